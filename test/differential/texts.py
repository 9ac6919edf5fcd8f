# SPDX-License-Identifier: GPL-2.0
"""Make random texts for writes to the files of limits.

The lines follow the grammar, but some lines have a mistake. The model decides whether the kernel
must refuse a text. test/fuzz has more mistakes for the parser.
"""
from random import choice, randrange

from model import (CLASSES, DEVICES, FILES, MAX_HW_DEFAULTS, MAX_OPS, MAX_WRITE, USED_DEVICES,
                   WRITTEN_FILES, Op)

LARGE_VALUES = ("9223372036854775806", "4294967295", "4294967296", "2147483647", "2147483648",
                "00", "007", "100000000000", "1000000", "1000001")
LENGTHS = (0, 1, 4095, 4096, 8192, 20000, 65536, 1000000)
# The controller refuses these words and values. Stock accepts some of MORE_BAD_VALUES.
BAD_WORDS = ("=5", "=", "foo=1", "foo", "max=5", "index=x")
BAD_VALUES = ("=", "", "=ma", "=maxx", "=-1", "=1e3", "=5k", "=5=5", "=x", "=+1", "=--", "=MAX",
              "=18446744073709551616", "=99999999999999999999999", "= 5")
MORE_BAD_VALUES = ("=9223372036854775807", "=9223372036854775808", "=18446744073709551615", "=0x10",
                   "=0x", "=default")
BAD_ESCAPES = ("\\", r"\000", r"\46", r"\x72", r"\400")
BAD_NAMES = ("rxe9", "rxe", "rxe00", "rxe0x", "max", "=", "default")
BAD_DEFAULTS = ("rxe0", "hw:", "hw:max=1", "qps=1", "hw:qp", "=1", "default", "mcast=1", "qp=",
                "hw:Qp=1", "hw:hw:qp=1", "hw:9a=1", "hw:a_key_that_has_32_letters_in_it_=1")
KEYS_WITHOUT_DEVICE = ("hw:a", "hw:b_2", "hw:qp", "flow", "dm_mem",
                       "hw:a_key_that_has_31_letters_in_it")

# Stock answers these texts differently: differences.sed has a rule for each text. The limits after
# such a write may also differ.
ODD_TEXTS = (
    "rxe0 hca_object=2147483647",
    "rxe0 hca_object=2147483648",
    "rxe1 hca_handle=4294967295\n",
    "rxe0 hca_object=9223372036854775806",
    "rxe0 hca_object=010",
    "rxe1 hca_handle=0x10",
    "rxe0",
    "rxe0 index=0\n",
    "rxe0 max",
    "rxe1 max\n",
    "rxe0\thca_object=3",
    "rxe0 hca_object=3\nrxe1 hca_object=4\n",
    "rxe0 hca_object=3\nhca_handle=4\n",
    "rxe0\nhca_object=3",
    "rxe1 hca_object=3 index=1",
    "rxe9 foo=1",
    "rxe0 hca_object=3\0x",
    "rxe0 hca_object=3\0",
    "\n",
)


def rarely(times):
    """Returns True once in @times calls, on average."""
    return randrange(times) == 0


def even_texts():
    """Returns texts that both kernels accept, and that make their limits equal again."""
    return [f"{name} hca_handle={randrange(8)} hca_object={randrange(20)}"
            for name in DEVICES[:USED_DEVICES]]


def spoil(text):
    """Change, remove or insert a byte, or cut the text off at a byte."""
    at, byte = randrange(len(text)), choice(" \t\n\r\v=0129-+xmhw:\\\x80\xff\0")
    return choice((text[:at] + byte + text[at + 1:], text[:at] + text[at + 1:],
                   text[:at] + byte + text[at:], text[:at]))


def lengthen(text):
    """Append blanks or copies of the end, up to some pages or about MAX_WRITE bytes."""
    length = choice((4096, 8192, 32768, MAX_WRITE, MAX_WRITE)) + randrange(5) - 2
    end = text[-1 - randrange(len(text)):]
    text += (" " if rarely(2) else end) * length
    return text[:length - 1] + "\n"


class Texts:
    def __init__(self, mode, model):
        self.is_common = mode == "common"
        # A mode with commands must not have limits that would delay commands for a day.
        self.has_commands = mode != "writes"
        self.model = model

    def blank(self):
        return " " if self.is_common else choice((" ", " ", " ", "\t", "  ", " \t "))

    def value(self, resource):
        if rarely(3):
            return "max"
        if resource in CLASSES["rdma.control"] and self.has_commands:
            # Choose a limit at which commands do not wait, or a limit that is too large.
            if resource == "ops":
                return MAX_OPS + 1 if rarely(10) else randrange(3) * 500000
            return randrange(5) * 1000000
        if not self.is_common and rarely(12):
            return choice(LARGE_VALUES)
        if resource in ("mr_mem", "queue_mem"):
            return choice(LENGTHS)
        return randrange(16 if resource == "hca_object" else 6)

    def limit(self, name):
        resource = choice(CLASSES[name])
        return f"{self.blank()}{resource}={self.value(resource)}"

    def bad_word(self, name):
        key, other = choice(CLASSES[name]), choice([other for other in CLASSES if other != name])
        words = [choice(BAD_WORDS), key + choice(BAD_VALUES)]
        if not self.is_common:
            words += [key + choice(MORE_BAD_VALUES), f"{choice(CLASSES[other])}=1"]
        return " " + choice(words)

    def odd_name(self, name):
        """Any byte of a name can be written as an escape."""
        letters = [f"\\{ord(letter):03o}" if rarely(3) or letter == " " else letter
                   for letter in name]
        if rarely(5):
            letters.insert(randrange(len(letters)), choice(BAD_ESCAPES))
        return "".join(letters)

    def name(self, device):
        if rarely(20):
            return choice(BAD_NAMES)
        if device >= USED_DEVICES or (not self.is_common and rarely(8)):
            return self.odd_name(DEVICES[device])
        return DEVICES[device]

    def index(self, device):
        """Usually returns an index if the name needs an index, and usually the right index."""
        if rarely(10) == (device >= USED_DEVICES):
            return ""
        if rarely(4):
            number = choice(("-1", "x1"))
        else:
            number = randrange(self.model.nr_devices) if rarely(3) else device
        return f"{self.blank()}index={number}"

    def line(self, name):
        device = randrange(self.model.nr_devices)
        line = self.name(device) + self.index(device)
        if not self.is_common and rarely(5):
            return line + self.blank() + choice(("max", "default"))
        for _ in range(1 + randrange(3)):
            line += self.limit(name)
        if rarely(8):
            line += self.bad_word(name)
        if not self.is_common and rarely(10):
            line += self.blank()
        return line

    def lines(self, name):
        text = self.line(name)
        if not self.is_common and rarely(4):
            for _ in range(1 + randrange(2)):
                text += choice(("\n\n", "\n", "\n", "\n", "\n \t\n", "\n")) + self.line(name)
        return text

    def default(self):
        if rarely(25):
            return choice(BAD_DEFAULTS)
        if rarely(15):
            return "max"
        if rarely(5):
            return f"{choice(KEYS_WITHOUT_DEVICE)}={self.value('pd')}"
        name = choice(list(CLASSES))
        resource = choice(CLASSES[name])
        return f"{'hw:' if name == 'rdma.hw' else ''}{resource}={self.value(resource)}"

    def defaults(self):
        text = self.default()
        for _ in range(randrange(4)):
            text += self.blank() + self.default()
        if rarely(60):
            # Write about as many keys as the hw class can have.
            first = randrange(5)
            for key in range(first, first + MAX_HW_DEFAULTS - 20 + randrange(30)):
                text += f" hw:key{key}={randrange(9)}"
        return text + "\nqp=1" if rarely(20) else text

    def random_text(self, file):
        text = self.defaults() if file == "rdma.default" else self.lines(FILES[file][0])
        if rarely(2):
            text += "\n"
        # Do not change a byte of a rate: at a low rate, commands would take all day.
        may_be_low = self.has_commands and file in ("rdma.default", "rdma.control.max")
        if not self.is_common and not may_be_low:
            if rarely(6):
                text = spoil(text)
            if text and rarely(200):
                text = lengthen(text)
        return text

    def fill(self, op):
        """Choose the text of a write, and an allocation that fails."""
        if not self.is_common and rarely(16) and self.model.has_account(op.dir):
            # Take the text of the file itself, or rarely the text of another file.
            source = choice(WRITTEN_FILES) if rarely(8) else op.file
            op.text = self.model.read(Op("read", dir=op.dir, file=source))
            op.back = source == op.file
        else:
            op.text = self.random_text(op.file)
        if not self.is_common and rarely(64):
            op.nth = 1 + randrange(6)
