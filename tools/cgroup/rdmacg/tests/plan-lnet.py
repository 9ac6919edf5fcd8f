#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In the guest, run the sample with the sizes of o2iblnd without limits, and compare its sizes and
peaks with those of rdmacg plan lnet. Then run the sample with these peaks as limits."""

import json
import os
import subprocess
import sys

from claims import end, report

ROOT = '/sys/fs/cgroup'
PARAMS = '/sys/module/rdmacg_lnd/parameters/'
ADDRESS = '192.0.2.1'
KEYS = ['pd', 'qp', 'cq', 'mr']
SIZES = {'queue_depth': 'depth', 'send_wr': 'send_wr', 'recv_wr': 'recv_wr', 'cqe': 'cqe'}

# Each case has a name, and the parameters of this node and of the peer with their names in Lustre.
# The sample module does not negotiate, so this node has the smaller sizes.
OPA = {'peer_credits': 32, 'credits': 1024, 'ntx': 2048,
       'map_on_demand': 256, 'fmr_pool_size': 2048, 'conns_per_peer': 4}
CASES = [
    ('default', {}, {}),
    ('for OPA', OPA, OPA),
    ('peer_credits=16', {'peer_credits': 16}, {'peer_credits': 16}),
    ('2 CPTs', {'cpts': 2, 'fmr_pool_size': 1024}, {'cpts': 2, 'fmr_pool_size': 1024}),
    ('8 meets 16', {}, {'peer_credits': 16}),
    ('4 connections', {'conns_per_peer': 4}, {}),
]


class Failed(Exception):
    """A result that is not as expected."""


def write(path, text):
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)


def read(path):
    with open(path, encoding='ascii') as file:
        return file.read()


def pairs(words):
    return dict(word.split('=') for word in words if '=' in word)


def options(param):
    return [f'--{key.replace("_", "-")}={value}' for key, value in param.items()]


def plan(program, near, far):
    """The sizes of a connection, and all objects of the connecting node."""
    words = [program, 'plan', 'lnet', '--self=0', '--peers=1', '--release=2.17', '--json']
    words += options(near)
    words += ['--remote', ','.join(f'{key.replace("_", "-")}={value}'
                                   for key, value in dict(far, release='2.17').items())]
    said = subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout
    parts = {part['title']: part['figures'] for part in json.loads(said)['parts']}
    return parts['this node connects: its end'], parts['All objects of this node, peers: 1']


def set_params(defaults, param):
    """Set the parameters of the sample, which has only those that change a size."""
    values = dict(defaults, **param)
    values['cpu_npartitions'] = values.pop('cpts', 1)
    for key in defaults:
        write(PARAMS + key, str(values[key]))


def end_of(name):
    """Open an end that is charged to the cgroup of this name."""
    write(f'{ROOT}/{name}/cgroup.procs', str(os.getpid()))
    file = os.open('/dev/rdmacg_lnd', os.O_RDWR)
    write(f'{ROOT}/cgroup.procs', str(os.getpid()))
    return file


def say(end, text):
    os.write(end, text.encode())


def told(end):
    return pairs(os.pread(end, 4096, 0).decode().split())


def run(defaults, case):
    """Connect the ends and move 16 MiB. Returns the sizes of a connection."""
    _, near, far = case
    left, right = end_of('near'), end_of('far')
    try:
        set_params(defaults, near)
        say(left, f'listen {ADDRESS}')
        set_params(defaults, far)
        say(right, f'listen {ADDRESS}')
        say(left, f'connect {ADDRESS} {told(right)["port"]}')
        say(left, 'send 16 1048576')
        return told(left)
    finally:
        os.close(left)
        os.close(right)


def limit(name, limits):
    write(f'{ROOT}/{name}/rdma.verb.max', 'rxe0 ' + limits)


def peaks(name):
    for line in read(f'{ROOT}/{name}/rdma.verb.peak').splitlines():
        if line.startswith('rxe0 '):
            return pairs(line.split())
    return {}


def compare(case, sizes, figures, total):
    """Print the planned and the measured value of each figure. They must be equal."""
    rows = [(key, figures[key], int(sizes[SIZES[key]])) for key in SIZES]
    rows += [(key, total[key], int(peaks('near')[key])) for key in KEYS]
    for key, planned, measured in rows:
        print(f'# {case[0]:16} {key:12} {planned:6} {measured:6}')
    wrong = [row for row in rows if row[1] != row[2]]
    if wrong:
        raise Failed(f'{case[0]}: what, planned, measured: {wrong}')


def check_case(program, defaults, case):
    figures, total = plan(program, *case[1:])
    for name in ['near', 'far']:
        os.mkdir(f'{ROOT}/{name}')
    try:
        compare(case, run(defaults, case), figures, total)
        limit('near', ' '.join(f'{key}={total[key]}' for key in KEYS))
        run(defaults, case)
        # Check the number of connections, because the sample does not fail if it has fewer
        # connections.
        for key in KEYS if total['connections'] == 1 else ['pd', 'mr']:
            limit('near', f'{key}={total[key] - 1}')
            try:
                run(defaults, case)
            except BlockingIOError:
                limit('near', f'{key}={total[key]}')
            else:
                raise Failed(f'{case[0]}: runs with one {key} less')
    finally:
        for name in ['near', 'far']:
            os.rmdir(f'{ROOT}/{name}')


def main():
    program = sys.argv[1]
    loader = read('/proc/sys/kernel/modprobe').strip()
    subprocess.run([loader, 'rdmacg_lnd'], check=True)
    defaults = {key: read(PARAMS + key).strip() for key in os.listdir(PARAMS)}
    print(f'# {"case":16} {"what":12} {"plan":>6} {"model":>6}')
    for case in CASES:
        try:
            check_case(program, defaults, case)
            wrong = ''
        except (Failed, OSError, KeyError, IndexError) as error:
            wrong = repr(error)
        report(not wrong, f'plan lnet and the model agree: {case[0]}', wrong)


main()
end()
