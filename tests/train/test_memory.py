import subprocess
import sys

import pytest

CODE = """
import resource, sys
import torch
from heldout.train.precision import make_accelerator

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.zeros(2**24)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

given_back = faults()
make_accelerator("fp32")
faults()
print(given_back, faults())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's malloc is Linux's")
def test_an_accelerator_of_a_cpu_uses_freed_memory_again_without_asking_the_system():
    # 20 times 64 MB: the system has to clear 327,680 pages of 4 kB, or 640 of 2 MB.
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout.split()
    given_back, kept = map(int, found)
    assert given_back >= 640
    assert kept < 64
