"""Reads, changes and computes the workbooks of `forerun plan -o F.xlsx`.

workbook.py check F.xlsx ANSWER.json   every formula is computed from its cells and compared with the value beside it, to a cent;
                                       the totals are compared with the answer's, to a cent
workbook.py set F.xlsx G.xlsx 'Prices!WHAT=VALUE' ...   writes G with other prices, and all values beside formulas gone
workbook.py compare F.xlsx ANSWER.json [FOLDER]   the same totals, computed here, or as read from the sheets that another program
                                       has written as FOLDER/*-SHEET.csv
"""
import csv
import glob
import json
import re
import sys
import zipfile
from xml.etree import ElementTree

MAIN = '{http://schemas.openxmlformats.org/spreadsheetml/2006/main}'
CENT = 0.01


def letters(n):
    text = ''
    while n > 0:
        text, n = chr(65 + (n - 1) % 26) + text, (n - 1) // 26
    return text


def number(text):
    n = 0
    for c in text:
        n = 26 * n + ord(c) - 64
    return n


class Book:
    def __init__(self, path):
        with zipfile.ZipFile(path) as z:
            self.files = {i.filename: z.read(i) for i in z.infolist()}
            self.dates = {i.date_time for i in z.infolist()}
        strings = [''.join(t.text or '' for t in item.iter(MAIN + 't'))
                   for item in ElementTree.fromstring(self.files['xl/sharedStrings.xml'])]
        self.values, self.formulas, self.parts, self.done = {}, {}, {}, {}
        book = ElementTree.fromstring(self.files['xl/workbook.xml'])
        for n, sheet in enumerate(book.iter(MAIN + 'sheet')):
            name, part = sheet.get('name'), 'xl/worksheets/sheet%d.xml' % (n + 1)
            self.parts[name] = part
            for cell in ElementTree.fromstring(self.files[part]).iter(MAIN + 'c'):
                value, formula = cell.find(MAIN + 'v'), cell.find(MAIN + 'f')
                if value is None:
                    continue
                at = name, cell.get('r')
                self.values[at] = strings[int(value.text)] if cell.get('t') == 's' else float(value.text)
                if formula is not None:
                    self.formulas[at] = formula.text

    def row_of(self, sheet, text, column='A'):
        rows = [re.sub('[A-Z]+', '', at) for (name, at), value in self.values.items()
                if name == sheet and value == text and re.match(column + r'\d', at)]
        assert len(rows) == 1, (sheet, text, rows)
        return rows[0]

    def area(self, sheet, first, last):
        (a, top), (b, bottom) = (re.match(r'([A-Z]+)(\d+)', at).groups() for at in (first, last))
        return [self.compute(sheet, letters(c) + str(r)) for r in range(int(top), int(bottom) + 1)
                for c in range(number(a), number(b) + 1)]

    def compute(self, sheet, at):
        """The value of a cell from its formula: the few functions that these workbooks use."""
        key = sheet, at
        if key not in self.formulas:
            return self.values.get(key, 0)
        if key in self.done:
            return self.done[key]
        word = re.compile(r"""("[^"]*") | (?:('[^']+'|[A-Za-z]+)!)? (\$?[A-Z]+\$?\d+) (?: : (\$?[A-Z]+\$?\d+))?""", re.X)

        def read(found):
            text, of, first, last = found.groups()
            if text:
                return text
            of = (of or sheet).strip("'")
            first, last = first.replace('$', ''), last and last.replace('$', '')
            return 'area(%r,%r,%r)' % (of, first, last) if last else 'cell(%r,%r)' % (of, first)

        names = {'cell': self.compute, 'area': self.area, 'MIN': min, 'SUM': lambda area: sum(x for x in area if not isinstance(x, str)),
                 'SUMIF': lambda keys, key, area: sum(x for k, x in zip(keys, area) if k == key)}
        self.done[key] = eval(word.sub(read, self.formulas[key]), {'__builtins__': {}}, names)
        return self.done[key]


KEYS = {'loss of value': 'depreciation_usd', 'interest': 'interest_usd', 'support': 'support_usd', 'colocation': 'colocation_usd',
        'staff': 'staff_usd', 'energy, with PUE': 'energy_usd', 'run cost, owned': 'run_cost_own_usd',
        'run cost, rented': 'run_cost_rent_usd'}


def same(what, a, b):
    assert abs(a - b) <= CENT, '%s: %.6f in the workbook, %.6f in the answer' % (what, a, b)


def compare(book, answer, value):
    """Totals by `value` (sheet, cell) against the answer's choices; an option is known by its cluster and layout."""
    results = json.load(open(answer))['results']
    ending = '_' + results['currency'].lower()  # of keys that name money
    choices = {(c['cluster'], c['layout']): {key.replace(ending, '_usd'): c[key] for key in c} for c in results['choices']}
    seen, checked = set(), 0
    option, layout = book.row_of('Run cost', 'cluster option'), book.row_of('Run cost', 'parallel layout')
    for column in range(3, 100):
        letter = letters(column)
        key = book.values.get(('Run cost', letter + option)), book.values.get(('Run cost', letter + layout))
        if key[0] is None:
            break
        choice = choices[key]
        seen.add(key)
        for label, name in KEYS.items():
            at = letter + book.row_of('Run cost', label)
            owned = name not in ('run_cost_own_usd', 'run_cost_rent_usd')
            if choice.get(name) is None or (owned and choice['acquisition'] != 'buy'):
                continue
            same('%s of %s' % (label, key), value('Run cost', at), choice[name])
            checked += 1
        if choice.get('capex_usd') is not None:
            head = int(book.row_of('Cash', key[0]))
            parts, row = {}, head + 2
            while book.values[('Cash', 'A%d' % row)] != 'cash to buy':
                kind = book.values[('Cash', 'A%d' % row)].lower()
                parts[kind] = parts.get(kind, 0) + value('Cash', 'E%d' % row)
                row += 1
            same('cash for %s' % key[0], value('Cash', 'E%d' % row), choice['capex_usd'])
            for kind, usd in parts.items():
                same('%s of %s' % (kind, key[0]), usd, choice['capex_%s_usd' % kind])
                checked += 1
    assert seen == set(choices), 'the workbook has other options than the answer'
    assert checked >= len(seen), checked
    return checked


def check(path, answer):
    book = Book(path)
    assert book.dates == {(1980, 1, 1, 0, 0, 0)}, book.dates
    for (sheet, at), formula in book.formulas.items():
        same('%s!%s =%s' % (sheet, at, formula), book.compute(sheet, at), book.values[(sheet, at)])
    checked = compare(book, answer, lambda sheet, at: book.values[(sheet, at)])
    print('%d formulas, %d figures of the answer' % (len(book.formulas), checked))


def change(path, to, settings):
    book = Book(path)
    files = dict(book.files)
    for part in book.parts.values():  # what another program must compute by itself
        files[part] = re.sub(rb'(</f>)<v>[^<]*</v>', rb'\1<v>0</v>', files[part])
    for setting in settings:
        place, value = setting.split('=')
        sheet, what = place.split('!')
        at = b'B' + book.row_of(sheet, what).encode()
        text, n = re.subn(rb'(<c r="' + at + rb'"[^>]*><v>)[^<]*', rb'\g<1>' + value.encode(), files[book.parts[sheet]])
        assert n == 1, setting
        files[book.parts[sheet]] = text
    with zipfile.ZipFile(to, 'w', zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            z.writestr(name, data)


def from_csv(folder):
    cells = {}
    for path in glob.glob(folder + '/*.csv'):
        with open(path, newline='') as file:
            for r, row in enumerate(csv.reader(file)):
                for c, text in enumerate(row):
                    cells[(path[:-4].split('-')[-1], letters(c + 1) + str(r + 1))] = text
    return lambda sheet, at: float(cells[(sheet, at)])


if sys.argv[1] == 'check':
    check(*sys.argv[2:])
elif sys.argv[1] == 'set':
    change(sys.argv[2], sys.argv[3], sys.argv[4:])
else:
    of = Book(sys.argv[2])
    print('%d figures' % compare(of, sys.argv[3], from_csv(sys.argv[4]) if len(sys.argv) > 4 else of.compute))
