"""Templates, variables and conversations for test_jinja.py."""

VARIABLES = {
    "s": "Hello World", "e": "", "u": "Grüße, 世界! 👩‍💻 ǅ ß İ", "h": "<b>\"Tom\" & 'Jerry'</b>", "n": "line one\nline two\n\n  four\r\n",
    "w": "  \t padded \n ", "num": "42", "i": 7, "neg": -3, "z": 0, "f": 2.5, "big": 9007199254740993, "x": 1e22, "tiny": 1.5e-7,
    "t": True, "no": False, "nothing": None, "l": [3, 1, 2], "ls": ["b", "A", "c", "a"], "empty": [], "mix": [1, "a", None, 2.0, True],
    "nest": [[1, 2], [3, [4]]], "d": {"b": 1, "a": 2, "c": {"k": "v"}}, "de": {}, "pairs": [["k", 1], ["j", 2]],
    "users": [{"name": "Ann", "age": 30, "ok": True}, {"name": "bob", "age": 25}, {"name": "Cy", "age": 30, "ok": False}],
    "many": {f"key{i}": i for i in range(20)}, "items": [1, 2], "odd": {"items": 1, "get": 2, "x": 3},
}

EXPRESSIONS = r"""
1 + 2 * 3
(1 + 2) * 3
2 ** 3 ** 2
-2 ** 2
- 2 ** 2
7 // 2, -7 // 2, 7 // -2, 7 % 3, -7 % 3, 7 % -3
7.5 // 2, -7.5 // 2, -7.5 % 2, 7.5 % -2, 1e308 * 10
1 / 2
6 / 3
1 / 0
1 // 0
1 % 0
1.0 / 0
2 ** -1
2 ** 0.5
2 ** 62
2.0 ** 10
0 ** 0
1_000 + 0x1F + 0b101 + 0o17
1.5e3
1e16
1e15
123456789012345680.0
1e-5
0.0001
0.1 + 0.2
1e22
x
tiny
-0.0
1.0
100000000000000000000.0
i / 2
big
big + 1
big * 1.0
true + 1
true == 1
1 == 1.0
'1' == 1
'a' < 'b'
'a' < 1
'é' < 'z'
[1, 2] < [1, 3]
[1, 2] == [1, 2]
(1, 2) == [1, 2]
{'a': 1} == {'a': 1.0}
1 < 2 < 3
1 < 3 < 2
1 in l
4 not in l
'a' in 'abc'
'' in ''
1 in 'abc'
'a' in d
'zz' in d
none in mix
'a' in nothing
'a' in missing
missing in l
not 1 in l
not missing
missing
missing.x
missing['x']
missing == missing
missing == 1
missing != none
missing < 1
missing + 1
'a' + missing
missing ~ 'a' ~ 1 ~ none ~ true ~ 1.0
1 ~ 2
s ~ l ~ d
'a' + 'b'
'a' + 1
'a' * 3
3 * 'ab'
'a' * -1
[1] * 2 + [3]
(1,) + (2, 3)
[1] + (2,)
l[0], l[-1], l[5], l['a']
l[1:], l[:-1], l[::-1], l[::2], l[-2:], l[10:], l[:10], l[2:1]
s[0], s[-1], s[99]
u[0:5], u[-4:], u[::-1], u[2], u[::3]
s[::-1]
s[1:8:2]
s[8:1:-2]
s[::0]
l['a':]
nothing[0]
nothing.foo
nothing['foo'] is defined
d.a, d['a'], d.zz, d['zz'], d.zz is defined
d.items is callable, d.keys is callable
d.c.k
d['c']['k']
d.c.zz.y
odd.items is callable, odd['items'], odd.x, odd.get is callable, odd['get']
d.items() | list
d.keys() | list
d.values() | list
d.keys()
d.items()
d.values() | length
d.get('a'), d.get('zz'), d.get('zz', 5), d.get('a', 5)
d.get()
d.copy()
d.pop('a')
d.update({'a': 1})
d.pop is defined
l.append(1)
l.append
l.index(2), l.count(3)
l.index(9)
l.copy()
(1, 2, 1).count(1)
(1, 2, 1).index(2)
s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase()
u.upper()
u.lower()
u.title()
u.capitalize()
u.swapcase()
'ΑΣ ΑΣΑ Σ'.lower()
'ﬁn'.upper(), 'ﬁn'.title(), 'ŉ'.capitalize()
"they're bill's".title()
s.split(), s.split('o'), s.split('o', 1), s.rsplit('o', 1), s.split('zz'), s.split(maxsplit=0)
s.split('')
s.split(none, 1)
'a,b,,c,'.split(',')
'  a  b c '.split(), '  a  b c '.split(none, 1), '  a  b c '.rsplit(none, 1), ''.split(), ''.split(',')
w.strip(), w.lstrip(), w.rstrip()
'xxaxx'.strip('x'), 'xyaxy'.lstrip('yx'), 'äöaö'.rstrip('öä'), 'abc'.strip('')
'\n\nabc\n'.lstrip('\n')
s.startswith('He'), s.startswith(('x', 'H')), s.endswith('ld'), s.endswith(('d',)), s.startswith('W', 6), s.startswith('')
s.startswith(['H'])
s.startswith(1)
s.find('o'), s.rfind('o'), s.find('zz'), s.find('o', 5), s.find('o', 5, 6), s.index('W'), u.find('世'), u.rfind(' ')
s.index('zz')
s.count('o'), s.count('l', 5), s.count(''), 'aaaa'.count('aa')
s.replace('o', '0'), s.replace('o', '0', 1), 'abc'.replace('', '-'), 'abc'.replace('', '-', 2), ''.replace('', 'x')
s.replace('o')
','.join(ls), ''.join([]), ', '.join(d), '-'.join('abc')
','.join(l)
'a'.isalpha(), '1'.isdigit(), '²'.isdigit(), '²'.isdecimal(), '½'.isnumeric(), 'a1'.isalnum(), ' '.isspace(), ''.isalpha(), 'Ab'.istitle(), 'AB'.isupper(), 'ab1'.islower(), '1'.islower(), 'ª'.islower()
'abc'.isascii(), 'é'.isascii(), 'a b'.isidentifier(), '_a1'.isidentifier(), '\n'.isprintable()
'7'.zfill(3), '-7'.zfill(4), '+7'.zfill(1), 'abc'.zfill(2)
'a'.center(4), 'a'.center(5), 'ab'.center(5), 'a'.ljust(3, '.'), 'a'.rjust(3, '.'), 'é'.center(4, '*')
'a'.center(4, 'xx')
n.splitlines(), n.splitlines(true), 'a\u2028b\x0bc'.splitlines(), ''.splitlines()
'a-b-c'.partition('-'), 'a-b-c'.rpartition('-'), 'abc'.partition('-'), 'abc'.rpartition('-')
'prefix'.removeprefix('pre'), 'prefix'.removesuffix('fix'), 'x'.removeprefix('y')
'{} {}'.format(1, 'a'), '{1} {0}'.format(1, 2), '{a}'.format(a=3), '{0.a} {0[b]}'.format(d), '{:>5}|{:<5}|{:^5}|'.format('a', 'b', 'c')
'{:5d}|{:05d}|{:+d}|{:,}|{:x}|{:#x}|{:b}|{:o}|{:_}'.format(1, -2, 3, 1234567, 255, 255, 5, 8, 12345)
'{:.2f}|{:8.3f}|{:e}|{:g}|{:%}|{:.3}|{:,.2f}|{}'.format(3.14159, 2.5, 12345.678, 0.0001, 0.25, 1234.5, 1234567.891, 1.0)
'{:*^9}|{:=+5}|{!r}|{!s}|{{}}'.format('mid', 3, 'q', 'q')
'{} {1}'.format(1, 2)
'{'.format(1)
'{}'.format()
'{:d}'.format('a')
'{:s}'.format(1)
'{0.__class__}'.format(1)
'%s %s' % (1, 'a')
'%s' % 'a'
'%s' % l
'%s %s' % 'a'
'%s' % (1, 2)
'%d|%5d|%-5d|%05d|%+d|%x|%X|%o|%i' % (1, 2, 3, 4, 5, 255, 255, 8, 9)
'%.2f|%8.3f|%-8.1f|%e|%g|%G' % (3.14159, 2.5, 1.25, 12345.678, 0.00001, 1e20)
'%d' % 3.7
'%d' % 'a'
'%s|%r|%10s|%-10s|%.2s' % ('a', 'b', 'c', 'd', 'efg')
'%(a)s %(b)05d' % {'a': 'x', 'b': 7}
'%(zz)s' % d
'100%%' % ()
'%c%c' % (65, 'b')
'%' % ()
'%q' % 1
'%s' % missing
'%s' % none
'abc' % ()
'abc' % 1
'abc' % d
s | upper, s | lower, s | title, s | capitalize, 'foo-bar (baz) <qux' | title, 'ǆ x' | title
1 | upper, none | lower, missing | upper, missing | trim
w | trim, 'xxaxx' | trim('x')
s | length, l | length, d | length, u | length, missing | length
5 | length
none | count
l | first, l | last, s | first, s | last, d | first, empty | first, empty | last is defined, missing | first is defined
d | last, d.items() | last, range(3) | last
l | map('string') | last
ls | join(','), ls | join, l | join('-'), users | join(', ', attribute='name'), d | join(','), 'abc' | join('.'), mix | join(' ')
5 | join
l | sort, ls | sort, ls | sort(case_sensitive=true), l | sort(reverse=true), users | sort(attribute='age') | map(attribute='name') | list
users | sort(attribute='age,name') | map(attribute='name') | list, users | sort(attribute='age', reverse=true) | map(attribute='name') | list
mix | sort
d | dictsort, {'b': 2, 'A': 1} | dictsort, {'b': 1, 'a': 2} | dictsort(false, 'value'), {'b': 2, 'A': 1} | dictsort(true), d | list
{'b': 1, 'a': 2} | dictsort(by='value', reverse=true)
ls | unique | list, [1, 1.0, true, '1'] | unique | list, ls | unique(case_sensitive=true) | list, users | unique(attribute='age') | map(attribute='name') | list
[[1], [1]] | unique | list
l | sum, users | sum(attribute='age'), l | sum(start=10), empty | sum, [0.5, 1] | sum
ls | sum
l | min, l | max, ls | min, ls | max, empty | min is defined, users | max(attribute='age'), ls | max(case_sensitive=true)
mix | max
l | reverse | list, s | reverse, u | reverse, d | reverse | list, (l | map('string') | reverse)
l | map('string') | list, ls | map('upper') | list, users | map(attribute='name') | list, users | map(attribute='ok', default='none') | list, nest | map('first') | list, nest | map(attribute=0) | list, nest | map(attribute='1.0') | list
ls | map('replace', 'a', 'z') | list
l | map('nosuchfilter') | list
l | map | list
empty | map | list
l | select('odd') | list, l | reject('odd') | list, mix | select | list, mix | reject | list, l | select('divisibleby', 2) | list, l | select('gt', 1) | list, ls | select('in', ['a', 'b']) | list, mix | select('string') | list
users | selectattr('ok') | map(attribute='name') | list, users | rejectattr('ok') | map(attribute='name') | list, users | selectattr('age', 'equalto', 30) | map(attribute='name') | list, users | selectattr('ok', 'defined') | list | length, users | selectattr('ok', 'undefined') | list | length
users | selectattr | list
l | select('nosuchtest') | list
users | groupby('age') | list
users | groupby('name', case_sensitive=true) | list, users | groupby('ok', default='x') | length
users | groupby('age') | map(attribute='grouper') | list, (users | groupby('age') | first).list | length
l | batch(2) | list, l | batch(2, 'x') | list, range(7) | slice(3) | list, range(7) | slice(3, 'x') | list
l | slice(0) | list
'a' | default('b'), missing | default('b'), '' | default('b'), '' | default('b', true), none | default('b'), none | d('b', true), missing | default, missing.x | default('b')
'42' | int, '42.9' | int, 'x' | int, 'x' | int(5), '0x1F' | int(base=16), '1F' | int(0, 16), '0b11' | int(base=2), 3.9 | int, -3.9 | int, true | int, none | int, ' 12 ' | int, '1_000' | int, '1e3' | int, '-5' | int, '' | int, 'inf' | int, l | int
missing | int
'3.5' | float, 'x' | float, 'x' | float(1.5), 3 | float, true | float, none | float, 'inf' | float, '-Infinity' | float, 'nan' | float, '1e5' | float, '1_0.5' | float, ' 2 ' | float, '.5' | float, '5.' | float
missing | float
-3 | abs, 2.5 | abs, -2.5 | abs, true | abs
(-3) | abs, neg | abs
'a' | abs
2.5 | round, 3.5 | round, 2.675 | round(2), 42.55 | round(1), 42.55 | round(1, 'floor'), 42.55 | round(1, 'ceil'), 42 | round, 1234 | round(-2), 1250 | round(-2), 1350 | round(-2), 1234.5 | round(-2), 42.4 | round | int, 2.5 | round(0, 'ceil'), true | round
'a' | round
2.5 | round(1, 'x')
s | replace('o', '0'), s | replace('o', '0', 1), 121 | replace(1, 'x'), s | replace('', '-')
s | string, 1 | string, l | string, none | string, true | string, missing | string
'abc' | list, d | list, range(3) | list, (1, 2) | list, missing | list
5 | list
d | items | list, missing | items | list
l | items | list
n | indent, n | indent(2), n | indent(2, true), n | indent(2, true, true), n | indent('> ', first=true), '' | indent, 'a' | indent(-1)
5 | indent
'foo bar baz qux' | truncate(9), 'foo bar baz qux' | truncate(9, true), 'foo bar baz qux' | truncate(11), 'foo bar baz qux' | truncate(11, false, '...', 0), 'foo' | truncate(9), 'foobarbazqux and more' | truncate(8, end='', leeway=0)
'foo' | truncate(1)
s | center(20), s | center(5), 'ab' | center(5), 1 | center(4)
s | wordcount, u | wordcount, '' | wordcount, 'a_b c-d' | wordcount
h | escape, h | e, h | safe, h | forceescape, h | e | e, h | safe | e, 1 | e, none | e, h | safe ~ h, (h | safe) + h, h + (h | safe), (h | safe) | upper, (h | e) | length
(h | safe)[0:3] + '<', ('<' | safe) * 2 + '<', ['<' | safe, '<'] | join
'a b/c?d=é&f' | urlencode, {'a b': 'c/d', 'e': 1} | urlencode, [['x', 'y z']] | urlencode, 5 | urlencode, '' | urlencode
'%s-%d' | format('a', 3), '%(x)s' | format(x=1), 'x' | format, l | format
'%s' | format(1, x=2)
l | tojson, d | tojson, u | tojson, h | tojson, mix | tojson, none | tojson, 1.0 | tojson, 1e22 | tojson, tiny | tojson, n | tojson, '\x00\x1f\x7f\u2028' | tojson, '' | tojson, empty | tojson, de | tojson, (1, 2) | tojson, true | tojson
d | tojson(indent=2), nest | tojson(indent=1), d | tojson(indent=0), d | tojson(indent='--'), empty | tojson(indent=2), [de] | tojson(indent=4), d | tojson(true, 2)
d | tojson(sort_keys=true), u | tojson(ensure_ascii=true), d | tojson(separators=(',', ':')), d | tojson(indent=2, separators=(' ,', ' : ')), '\x7f' | tojson(ensure_ascii=true)
{1: 'a', none: 'b', true: 'c', 1.5: 'd'} | tojson
{(1, 2): 'a'} | tojson
missing | tojson
range(3) | tojson
d.items() | tojson
[missing] | tojson
d | tojson(nosuch=1)
'inf' | float | tojson, 'nan' | float | tojson
s is string, 1 is string, 1 is number, 1.0 is number, true is number, 1 is integer, true is integer, 1.0 is float, 1 is float, true is boolean, 1 is boolean, none is none, missing is none
d is mapping, l is mapping, l is sequence, s is sequence, d is sequence, missing is sequence, 5 is sequence, range(3) is sequence, d.items() is sequence, l is iterable, 5 is iterable, s is iterable, missing is iterable, d.items() is iterable
s is defined, missing is defined, missing is undefined, missing is not defined, d.zz is not defined, none is defined
range is callable, s is callable, missing is callable, namespace is callable, d.get is callable, raise_exception is callable
1 is odd, 2 is odd, 2 is even, -1 is odd, 2.0 is even, 6 is divisibleby 3, 6 is divisibleby(4), 7 is divisibleby 0 if false else 'x'
'a' is odd
6 is divisibleby 0
true is true, 1 is true, false is false, 0 is false, none is false
1 is eq 1, 1 is equalto(1.0), 1 is ne 2, 1 is lt 2, 2 is gt 1, 1 is le 1, 1 is ge 2, 1 is lessthan 2, 1 is greaterthan 2, 'a' is in 'abc', 1 is in [1], 1 is not in [1]
none is sameas none, true is sameas true, 1 is sameas true, l is sameas l, l is sameas [3, 1, 2]
'abc' is lower, 'Abc' is lower, 'ABC' is upper, '' is upper, 1 is lower
'upper' is filter, 'nosuch' is filter, 'odd' is test, 'nosuch' is test, 1 is filter
(h | safe) is escaped, h is escaped
1 if true else 2, 1 if false else 2, 1 if false, (1 if false) is defined, 'a' if missing else 'b', 1 if 0 else 2 if 0 else 3
(1 if false).x
none or 'x', '' or none, 1 and 2, 0 and 2, not 1, not not 1, 1 or missing.x.y, false and missing.x.y
[], [1,], (), (1,), {}, {'a': 1,}, [1, [2, (3,)]]
'a' 'b' "c"
"a\nb\t\"q\" \\ \x41 \u00e9 \101 \q", 'it''s', "\é"
'\u4e16\U0001F600'
'a
b'
range(5) | list, range(2, 5) | list, range(5, 0, -2) | list, range(0) | list, range(3), range(0, 10, 3), range(3)[1], range(3)[-1], 2 in range(3), range(5) | length, range(5)[1:3], range(0, 10, 2)[::-1] | list
range(100001)
range(1, 2, 0)
range('a')
range(1000000000000, 1000000000003) | list
dict(a=1, b=2), dict(d, z=1), dict([['a', 1]]), dict(), dict(pairs)
dict(1)
namespace(a=1).a, namespace({'x': 2}).x, namespace(a=1)['a'], namespace().zz is defined, namespace(a=1)
namespace(_a=1)
cycler('a', 'b').next(), joiner()()
cycler()
raise_exception('boom')
raise_exception()
strftime_now('%Y-%m-%d'), strftime_now('%d %b %Y'), strftime_now('')
nosuchfunction()
s()
1()
s.nosuch()
d.a()
s.upper is callable
l.__class__, s.__len__ is defined, d.__class__.__mro__
d['__class__']
''.__class__
none.__class__
mix, nest, d, [true, none, 1.0, 'a\'b', "a\"b", 'a\'b"c', '\n\t\\', 'é', '\x7f', '\u200b', '👍', '\xad'], ('a',), {'a': missing}
[missing], [none]
{'a': 1, 'a': 2}, {1: 'a', 1.0: 'b', true: 'c'}, {'x': {'y': []}}
{[1]: 2}
{{}: 2}
many.key13, many['key19'], many.key20 is defined, many | length, 'key5' in many
1 if true else (2 if
1 +
{{
(1
[1, 2
'abc
1 | nosuch
1 is nosuch
1 is odd is even
a b
1..2
l.0, nest.1.1.0, l.9
l[0].real, i.real, f.imag, i.numerator, f.is_integer(), 2.0.is_integer()
items, items[0]
1 in {1: 2}, 'x' in {'x': 1}.keys(), 2 in {'x': 2}.values(), ('x', 2) in {'x': 2}.items()
dict(a=1).items() | map('first') | list, dict(a=1) | map('upper') | list
'a' ~ 1 + 2
1 + 2 ~ 3
1 ~ 2 * 3
-1 | abs
-'a'
+true, -true, +1.5
not true == false
1 == 1 == 1, 1 != 2 != 1, 1 in [1] in [[1]]
'%s' % (l | map('string') | list)
[1, 2, 3] | map('string') | join('+') | upper
s | lower | replace('l', 'L') | title | length
(s | upper)[0], (l | sort)[-1], (d | dictsort)[0][1]
s.split(' ')[0].lower(), s.split(' ')[-1][::-1], ('a,b' ~ ',c').split(',') | last
*l
range(*[1, 4]) | list, dict(**{'a': 1}), '{} {}'.format(*l), '{a}{b}'.format(**{'a': 1, 'b': 2})
dict(**l)
d(*[])
range(1, 2, 3, 4)
'a'.upper(1)
s.split(sep='o', maxsplit=1), s.split(nosuch=1)
s | default(1, 2, 3)
s | upper(1)
9223372036854775807, -9223372036854775807
1.7976931348623157e308, 5e-324, 123.456, 1e100, 1.0e-10, 12345678.9
""".strip("\n").split("\n")

# One expression that spans lines was cut in two above; put it back.
EXPRESSIONS = [e for e in EXPRESSIONS if e not in ("'a", "b'")] + ["'a\nb'"]

STATEMENTS = [
    "{% for x in l %}{{ x }},{% endfor %}",
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }};{% endfor %}",
    "{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}",
    "{% for x in l %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}",
    "{% for x in [1,1,2,2,1] %}{{ loop.changed(x) }}{% endfor %}",
    "{% for x in empty %}a{% else %}none{% endfor %}|{% for x in l %}a{% else %}none{% endfor %}",
    "{% for x in l if x > 1 %}{{ x }}{{ loop.length }}{{ loop.last }}{{ loop.nextitem }}{% else %}none{% endfor %}",
    "{% for x in l if x > 9 %}{{ x }}{% else %}none{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in l %}{% break %}{% else %}else{% endfor %}",
    "{% for x in l %}{% continue %}{% else %}else{% endfor %}",
    "{% for x in l %}{{ x }}{% if loop.first %}{% continue %}{% endif %}!{% else %}else{% endfor %}",
    "{% break %}", "{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}",
    "{% for x in empty %}{% else %}{% break %}{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k, v in d | dictsort %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in d %}{{ k }}{% endfor %}", "{% for a, b in l %}{% endfor %}", "{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for x in 5 %}{% endfor %}", "{% for x in missing %}a{% else %}b{% endfor %}", "{% for x in none %}{% endfor %}", "{% for c in 'aé世' %}[{{ c }}]{% endfor %}",
    "{% for x in l %}{% set y = x %}{% endfor %}{{ y }}", "{% set y = 0 %}{% for x in l %}{% set y = y + x %}{{ y }}{% endfor %}{{ y }}",
    "{% set ns = namespace(t=0) %}{% for x in l %}{% set ns.t = ns.t + x %}{% endfor %}{{ ns.t }}",
    "{% set ns.x = 1 %}", "{% set d.x = 1 %}", "{% set ns = namespace() %}{% set ns._x = 1 %}", "{% set ns = namespace() %}{% set ns.a, b = 1, 2 %}{{ ns.a }}{{ b }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a, b = l %}", "{% set a = b = 1 %}", "{% set 1 = 2 %}", "{% set a.b.c = 1 %}", "{% set none = 1 %}", "{% set (a, b) = [1, 2] %}{{ a + b }}",
    "{% set a = 1, 2 %}{{ a }}", "{% set x %}a{{ s }}b{% endset %}{{ x }}|{{ x | length }}", "{% set x | upper %}a{{ s }}{% endset %}{{ x }}", "{% set x | replace('a', 'b') | upper %}aa{% endset %}{{ x }}",
    "{% set x %}{% set z = 1 %}{{ z }}{% endset %}{{ x }}{{ z }}",
    "{% if t %}a{% elif no %}b{% else %}c{% endif %}", "{% if no %}a{% elif t %}b{% else %}c{% endif %}", "{% if no %}a{% elif no %}b{% else %}c{% endif %}", "{% if no %}a{% endif %}", "{% if missing %}a{% else %}b{% endif %}",
    "{% if t %}{% set q = 1 %}{% endif %}{{ q }}", "{% if no %}{% set q = 1 %}{% endif %}{{ q }}", "{% if no %}{% set s = 1 %}{% endif %}{{ s }}", "{% set s = 2 %}{% if no %}{% set s = 1 %}{% endif %}{{ s }}",
    "{% if t %}{% set s = 1 %}{% elif no %}{% set i = 2 %}{% endif %}{{ s }}{{ i }}", "{{ s }}{% set s = 1 %}{{ s }}", "{{ s }}{% for x in l %}{{ s }}{% set s = x %}{{ s }}{% endfor %}{{ s }}",
    "{% for x in l %}{% if x == 3 %}{% set q = 'three' %}{% endif %}{{ q }};{% endfor %}", "{% for x in l %}{% if x == 1 %}{% set s = 'one' %}{% endif %}{{ s }};{% endfor %}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% set c = 3 %}{% endwith %}{{ a }}{{ c }}", "{% with a = s, b = a %}{{ b }}{% endwith %}", "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}", "{% with (a, b) = (1, 2) %}{{ a }}{{ b }}{% endwith %}",
    "{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=1, a=5) }}{{ m() }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}", "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}", "{% macro m(a) %}{{ a is defined }}{% endmacro %}{{ m() }}",
    "{% macro m(x) %}{% if x > 0 %}{{ x }}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(5) }}", "{{ m() }}{% macro m() %}a{% endmacro %}", "{% macro m() %}{{ v }}{% endmacro %}{% set v = 1 %}{{ m() }}{% set v = 2 %}{{ m() }}",
    "{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}", "{% macro m() %}{% set s = 1 %}{{ s }}{% endmacro %}{{ m() }}{{ s }}", "{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}body {{ s }}{% endcall %}",
    "{% macro m(x) %}[{{ caller(x, x + 1) }}]{% endmacro %}{% call(a, b=9) m(3) %}{{ a }}/{{ b }}{% endcall %}", "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}", "{% macro m() %}a{% endmacro %}{% call m() %}b{% endcall %}",
    "{% macro m(caller='x') %}{{ caller }}{% endmacro %}{{ m() }}", "{% macro m(caller) %}{{ caller() }}{% endmacro %}", "{% call s.upper() %}x{% endcall %}", "{% call 1 %}{% endcall %}", "{{ m.name }}{% macro m(a, b) %}{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}{{ m.caller }}",
    "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}b{% endmacro %}{{ a() }}", "{% macro outer() %}{% macro inner() %}i{{ s }}{% endmacro %}{{ inner() }}{% endmacro %}{{ outer() }}", "{% macro m() %}<x>{% endmacro %}{{ m() | upper }}{{ m() ~ 1 }}{{ m() | length }}",
    "{% filter upper %}abc {{ s }}{% endfilter %}", "{% filter replace('a', 'b') | upper %}aaa{% endfilter %}", "{% filter trim %}  {% set q = 1 %}{{ q }}  {% endfilter %}{{ q }}", "{% filter nosuch %}{% endfilter %}",
    "{% raw %}{{ s }}{% for %}{% endraw %}", "{%- raw -%}  {{ s }}  {%- endraw -%}  x", "a\n  {% raw %}\n b\n  {% endraw %}\n c", "{% raw %}{% endraw", "{# comment #}a{#- x -#} b", "a {#- c #} b", "{# {{ x #}b", "{# unclosed", "a\n  {# c #}\nb", "{#-#}x",
    "{% generation %}a{{ s }}{% set q = 1 %}{% endgeneration %}{{ q }}", "{% for x in l %}{% generation %}{{ x }}{{ loop.index }}{% endgeneration %}{% endfor %}",
    "  {% if t %}\n  a\n  {% endif %}\nb", "  {%- if t %}\n  a\n  {%- endif %}\nb", "  {%+ if t %}\n  a\n  {%+ endif %}\nb", "x {% if t -%}\n\n a {%- endif %} y", "x  {{- s -}}  y", "x\n{{ s }}\ny\n", "x\n{% if t %}{% endif %}\n\ny\n\n", "a{% if t +%}\nb{% endif +%}\nc", "\n\n{% set q = 1 %}\n\n{{ q }}",
    "{% if t %}\r\na\r\n{% endif %}\rb\r\n", "\t {% if t %}x{% endif %}", "x \t{% if t %}x{% endif %}", "a{{ '\\n' }}\n{% if t %}\n\n{% endif %}", "{{ s }}\n", "{{ s }}\n\n", "\n", "", "{", "{ {", "}}", "%}", "{{ '{{' }}", "{{ '}}' }}", "{{ {'a': {'b': 1}} }}", "{{ {'a': {'b': 1}}}}",
    "\u00a0{% if t %}x{% endif %}", "a\u2003{%- if t %}x{% endif %}", "{{ s -}} \n\t x {{- s }}", "{%- for x in l -%}\n {{ x }} \n{%- endfor -%}\n", "{% for x in l %}\n{{ x }}\n{% endfor %}\nend",
    "{% print s, 1 %}", "{% print %}", "{% do 1 %}", "{% nosuch %}", "{% include 'x' %}", "{% extends 'x' %}", "{% import 'x' as y %}", "{% from 'x' import y %}", "{% if %}{% endif %}", "{% if t %}", "{% endif %}", "{% for x in l %}{% endif %}", "{% else %}", "{%", "{% %}", "{{ }}", "{{ s", "{% set x = %}", "{% for in l %}{% endfor %}", "{% for x l %}{% endfor %}",
    "{% for x in l recursive %}{{ x }}{% endfor %}", "{% for x in nest recursive %}[{% if x is iterable %}{{ loop(x) }}{% else %}{{ x }}:{{ loop.depth }}{% endif %}]{% endfor %}", "{% for x in l %}{{ loop(l) }}{% endfor %}", "{% for x in nest recursive %}{{ loop.depth0 }}{% if x is sequence %}({{ loop(x) }}){% endif %}{% else %}e{% endfor %}",
    "{% for loop in l %}{% endfor %}", "{% for x in l %}{% set loop = 1 %}{% endfor %}", "{{ loop }}", "{{ loop is defined }}", "{% for x in l %}{% for y in l %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}", "{% for x in l %}{% set outer = loop %}{% for y in l %}{{ outer.index }}{{ loop.index }};{% endfor %}{% endfor %}",
    "{% for x in l | map('string') %}{{ loop.length }}{{ x }}{{ loop.revindex }}{% endfor %}", "{% for x in l | select('odd') %}{{ x }}{{ loop.last }}{% endfor %}", "{% set g = l | map('string') %}{{ g | list }}{{ g | list }}", "{% for x in l | reverse %}{{ x }}{{ loop.index }}{% endfor %}", "{% for x in l | batch(2) %}{{ x }}{% endfor %}", "{% for g in users | groupby('age') %}{{ g.grouper }}:{{ g.list | length }};{% endfor %}", "{% for a, b in users | groupby('age') %}{{ a }}{% endfor %}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.reset() }}{{ c.next() }}", "{% set j = joiner(', ') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}",
    "{% if nosuch is nosuchtest %}{% endif %}", "{% if no %}{{ s | nosuchfilter }}{% endif %}ok", "{% if t %}{{ s | nosuchfilter }}{% endif %}", "{{ (s | nosuchfilter) if no else 1 }}", "{% for x in l %}{{ x | nosuchfilter }}{% endfor %}", "{% if t %}{% for x in l %}{{ x | nosuchfilter }}{% endfor %}{% endif %}", "{% if 'nosuch' is filter %}{{ s | nosuch }}{% else %}no{% endif %}",
    "{% set ns = namespace(a=[]) %}{% for x in l %}{% set ns.a = ns.a + [x * 2] %}{% endfor %}{{ ns.a }}", "{% set x = {'a': 1} %}{% set x = dict(x, b=2) %}{{ x }}", "{% set a = 'x' %}{% for i in range(3) %}{% set a = a ~ i %}{{ a }} {% endfor %}{{ a }}",
    "{% set x %}{% for i in l %}{{ i }}{% if loop.first %}{% break %}{% endif %}{% endfor %}{% endset %}[{{ x }}]", "{% for i in l %}{% set x %}{{ i }}{% break %}{% endset %}{% endfor %}[{{ x }}]", "{% for i in l %}{% filter upper %}a{% continue %}{% endfilter %}b{% endfor %}",
    "{{ 'a' if s is string and s | length > 3 and not no else 'b' }}", "{% if s is defined and s is not none and s != '' %}y{% endif %}", "{%- if not (a is defined and a) %}n{% endif %}", "{% if l and l[0] == 3 %}{{ l[0] }}{% endif %}", "{{ 'x' if nosuch is defined else 'y' }}",
    "{% set q = s %}{% macro m(s) %}{{ s }}{{ q }}{% endmacro %}{{ m('z') }}", "{% set m = 1 %}{% macro m() %}a{% endmacro %}{{ m() }}", "{% macro m(a, a) %}{% endmacro %}", "{% macro m(a=1, b) %}{% endmacro %}", "{% macro m(a) -%}  x  {%- endmacro %}{{ m() }}",
    "{% set ns = namespace(f=none) %}{% macro m(x) %}<{{ x }}>{% endmacro %}{% set ns.f = m %}{{ ns.f(1) }}", "{{ raise_exception('line') }}", "{% if t %}{{ raise_exception('a' ~ 1) }}{% endif %}", "{% set x = range(3) %}{{ x | list }}{{ x | list }}", "{% for x in range(3) %}{{ x }}{{ loop.last }}{% endfor %}",
    "{% for k, v in many.items() if v is even %}{{ k }}{% if not loop.last %}, {% endif %}{% endfor %}", "{% for m in users %}{% if m.ok is defined %}{{ m.name }}{% elif m['age'] > 20 %}({{ m.name }}){% endif %}{% endfor %}", "{{ users[0].name ~ users[-1]['name'] }}{{ users[1:] | map(attribute='name') | join }}",
    "{%- set ns = namespace(found=false) -%}\n{%- for u in users -%}\n  {%- if u.age == 25 -%}{%- set ns.found = true -%}{%- endif -%}\n{%- endfor -%}\n{{ ns.found }}", "{% set a = [1, 2] %}{% set b = a %}{{ a is sameas b }}", "{{ x.y.z }}", "{{ missing.a is defined }}", "{{ d.zz.a is defined }}",
]


# --- Expressions at random -------------------------------------------------------------------------------

NAMES = ["s", "e", "u", "h", "n", "w", "num", "i", "neg", "z", "f", "t", "no", "nothing", "l", "ls", "empty", "mix", "nest", "d", "de",
         "pairs", "users", "missing", "d.c", "d.zz", "users[0]", "l[0]", "s[2:5]"]
LITERALS = ["1", "0", "-1", "2.5", "'a'", "'o'", "''", "' '", "none", "true", "false", "[]", "[1, 2]", "('a', 1)", "{'a': 1}", "3"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or", "**"]
FILTERS = ["upper", "lower", "title", "capitalize", "trim", "length", "first", "last", "list", "join", "join(', ')", "sort", "unique | list",
           "reverse | list", "string", "int", "float", "abs", "round", "tojson", "default('z')", "default('z', true)", "sum", "min", "max", "items | list",
           "map('string') | list", "map('upper') | list", "map(attribute='name') | list", "select | list", "reject('none') | list", "select('string') | list",
           "selectattr('age', 'gt', 26) | list", "batch(2) | list", "slice(2) | list", "replace('o', '0')", "indent(2)", "truncate(7)", "wordcount", "e", "escape",
           "urlencode", "dictsort", "count", "center(9)", "tojson(indent=2)", "groupby('age') | list", "sort(reverse=true)", "map('length') | list", "format(1)"]
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence", "iterable", "callable", "true", "false",
         "odd", "even", "divisibleby(2)", "eq(1)", "lt(2)", "in([1, 'a'])", "lower", "upper", "sameas(none)", "not none", "not string"]
METHODS = ["upper()", "lower()", "title()", "strip()", "split()", "split('o')", "strip('H')", "startswith('H')", "replace('l', 'L')", "find('o')", "keys() | list",
           "items() | list", "values() | list", "get('a')", "get('name', 1)", "index(1)", "count('l')", "join(['x', 'y'])", "isdigit()", "isupper()", "splitlines()", "capitalize()",
           "zfill(5)", "append(1)", "pop()", "name", "a", "0", "format(1)", "partition('o')", "rsplit(none, 1)"]


def random_expression(generator, depth=0):
    kind = generator.randrange(9 if depth < 3 else 2)
    inner = lambda: random_expression(generator, depth + 1)  # noqa: E731
    if kind == 0 or kind == 8:
        return generator.choice(NAMES)
    if kind == 1:
        return generator.choice(LITERALS)
    if kind == 2:
        left, operator, right = inner(), generator.choice(OPERATORS), inner()
        if operator in ("**", "*"):
            right = generator.choice(["2", "0", "3", "'a'", "none", "1.5"])  # Python's integers have no bound, ours do
        return f"({left} {operator} {right})"
    if kind == 3:
        return f"({inner()}) | {generator.choice(FILTERS)}"
    if kind == 4:
        return f"(({inner()}) is {generator.choice(TESTS)})"
    if kind == 5:
        return f"({inner()}).{generator.choice(METHODS)}"
    if kind == 6:
        return f"({inner()})[{generator.choice(['0', '-1', '1:', ':-1', '::-1', chr(39) + 'a' + chr(39), '1', 'none', ':2', '9'])}]"
    return f"({inner()} if {inner()} else {inner()})"


# --- Conversations at random -----------------------------------------------------------------------------

WORDS = ["hello", "Привет", "你好", "world", "🙂", "👨‍👩‍👧", "naïve", "<b>", "&amp;", "\"quoted\"", "it's", "\\n", "\n", "\n\n", "\t", "  ", "42", "{\"a\": 1}", "{{ x }}", "{% y %}",
         "<tool_response>", "</tool_response>", "<think>", "</think>", "<|im_end|>", "\u2028", "\u00a0", "é", "```py\nprint(1)\n```", "", "ﷺ", "नमस्ते", "\u200d"]


def random_text(generator):
    kind = generator.randrange(12)
    if kind == 0:
        return ""
    if kind == 1:
        return "<tool_response>" + generator.choice(["", "\nresult\n"]) + "</tool_response>"
    if kind == 2:
        return "<think>\n" + " ".join(generator.choices(WORDS, k=3)) + "\n</think>\n\n" + " ".join(generator.choices(WORDS, k=3))
    return generator.choice(["", "\n", " "]) + " ".join(generator.choices(WORDS, k=generator.randrange(1, 12))) + generator.choice(["", "\n", "\n\n"])


def random_json(generator, depth=0):
    kind = generator.randrange(8 if depth < 3 else 5)
    if kind == 0:
        return generator.choice([None, True, False])
    if kind == 1:
        return generator.randrange(-10**6, 10**6)
    if kind == 2:
        return generator.choice([0.5, -1.25, 1e-7, 1e21, 3.0, 0.1])
    if kind in (3, 4):
        return random_text(generator)
    if kind == 5:
        return [random_json(generator, depth + 1) for _ in range(generator.randrange(4))]
    return {generator.choice(["city", "unit", "größe", "天气", "a b", "x\"y"]) + str(i): random_json(generator, depth + 1) for i in range(generator.randrange(4))}


def random_content(generator, role, odd):
    kind = generator.randrange(12) if odd else 3
    if kind == 0:
        return None
    if kind == 1:
        return [{"type": "text", "text": random_text(generator)} for _ in range(generator.randrange(3))]
    if role == "assistant" and generator.randrange(6) == 0:
        return ""
    return random_text(generator)


def random_call(generator):
    arguments = {f"arg{i}": random_json(generator) for i in range(generator.randrange(4))}
    if generator.randrange(5) == 0:
        import json

        arguments = json.dumps(arguments, ensure_ascii=generator.random() < 0.5)
    call = {"name": generator.choice(["get_weather", "search", "añadir"]), "arguments": arguments}
    if generator.randrange(6) == 0:
        return call
    return {"id": f"call_{generator.randrange(1000)}", "type": "function", "function": call}


def random_message(generator, role, odd):
    message = {"role": role}
    if not odd or generator.randrange(20):
        message["content"] = random_content(generator, role, odd)
    if role == "assistant":
        kind = generator.randrange(8)
        if kind < 2:
            message["reasoning_content"] = random_text(generator)
        elif kind == 2:
            message["reasoning_content"] = None
        elif kind == 3:
            message[generator.choice(["reasoning", "thinking"])] = random_text(generator)
        kind = generator.randrange(6)
        if kind < 2:
            message["tool_calls"] = [random_call(generator) for _ in range(generator.randrange(4))]
        elif kind == 2:
            message["tool_calls"] = None
    if role == "tool":
        message["tool_call_id"] = "call_1"
        if generator.randrange(2):
            message["name"] = "search"
    return message


def random_tools(generator):
    return [{"type": "function", "function": {"name": f"tool{i}", "description": random_text(generator),
             "parameters": {"type": "object", "properties": {"x": random_json(generator), "y": {"type": "string"}}, "required": ["x"]}}}
            for i in range(generator.randrange(1, 4))]


def random_conversation(generator):
    roles = []
    if generator.randrange(2):
        roles.append("system")
    if generator.randrange(10):  # well-formed turns
        for _ in range(generator.randrange(1, 6)):
            roles.append("user")
            while generator.randrange(3) == 0:
                roles += ["assistant"] + ["tool"] * generator.randrange(1, 4)
            if generator.randrange(8):
                roles.append("assistant")
        if generator.randrange(2):
            roles.append("user")
    else:
        roles += generator.choices(["system", "user", "assistant", "tool", "developer"], k=generator.randrange(0, 7))
    if generator.randrange(6) == 0:
        roles.insert(generator.randrange(len(roles) + 1), "system")
    variables = {}
    kind = generator.randrange(5)
    if kind < 3:
        variables["enable_thinking"] = [True, False, None][kind]
    odd = generator.randrange(4) == 0  # content that is null, missing, or made of parts
    return {"messages": [random_message(generator, role, odd) for role in roles], "tools": random_tools(generator) if generator.randrange(3) == 0 else generator.choice([None, None, []]),
            "add_generation_prompt": generator.random() < 0.7, "variables": variables}
