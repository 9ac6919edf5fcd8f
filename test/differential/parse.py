# SPDX-License-Identifier: GPL-2.0
"""The model of a written text, test/model/write.c, for Python. A malformed text raises EINVAL."""
import ctypes
import errno
import os
import sys

NO_LIMIT = 2**63 - 1
# The value of a limit that returns to the default.
USE_DEFAULT = 2**64 - 1

library = ctypes.CDLL(f"{sys.argv[1]}/write.so")
library.model_next_line.restype = ctypes.c_bool
library.model_next_limit.restype = ctypes.c_bool
library.model_text_is_whole.restype = ctypes.c_bool


class Text(ctypes.Structure):
    """A piece of a text. A Text that is made of bytes also keeps a reference to the bytes."""
    _fields_ = [("at", ctypes.c_char_p), ("len", ctypes.c_size_t)]

    def __str__(self):
        return self.at[:self.len].decode("latin-1")


class Line(ctypes.Structure):
    _fields_ = [("name", Text), ("device", ctypes.c_char * 256), ("limits", Text),
                ("index", ctypes.c_uint), ("has_index", ctypes.c_bool), ("good", ctypes.c_bool)]


class Limit(ctypes.Structure):
    _fields_ = [("key", Text), ("max", ctypes.c_ulonglong), ("good", ctypes.c_bool)]


def refuse_if(condition, error):
    if condition:
        raise OSError(error, os.strerror(error))


def text_of(string):
    return Text(string.encode("latin-1"), len(string))


def limits(text):
    """Yield the key and the value of each limit. An empty key stands for all keys."""
    limit = Limit(good=False)
    while library.model_next_limit(ctypes.byref(text), ctypes.byref(limit)):
        refuse_if(not limit.good, errno.EINVAL)
        yield str(limit.key), limit.max
    refuse_if(not limit.good, errno.EINVAL)


def lines(text):
    """Yield name, index and limits of each line. Without an index, the index is None."""
    line = Line(good=False)
    refuse_if(not library.model_text_is_whole(text), errno.EINVAL)
    while library.model_next_line(ctypes.byref(text), ctypes.byref(line)):
        refuse_if(not line.good, errno.EINVAL)
        yield (line.device.decode("latin-1"), line.index if line.has_index else None,
               limits(line.limits))
    refuse_if(not line.good, errno.EINVAL)
