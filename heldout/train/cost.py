"""What a training step should cost in time and memory: a model of it from parameters, tokens, FLOPs and bandwidth.

    time   = multiplications / (peak · share)  +  exchange that the backward pass does not hide  +  optimizer
    memory = 16 bytes a parameter (weights, gradients, AdamW's two moments; over N processes where sharded)
             + activations of one micro-batch

A multiplication of matrices costs 2 FLOPs a weight and token forward, twice that backward, and attention 4·n·d a token
and layer (Narayanan et al. 2021, appendix). A ring's all-reduce moves 2(N − 1)/N of the gradients past every process;
FSDP gathers weights twice and scatters gradients once, (N − 1)/N of them each. AdamW reads and writes 28 bytes a
parameter. Activations are 34 bytes a token, layer and unit of width in bf16 where attention keeps no scores
(Korthikanti et al. 2022, section 4.1), twice that in fp32. Estimates, to choose a machine by: docs/scaling.md says how
far off they were.
"""

from dataclasses import dataclass

#: Bytes a parameter of weights, gradients and AdamW's moments in fp32; bytes AdamW moves for one.
STATE, MOVED = 16, 28
#: Of a step's multiplications the backward pass has two thirds.
BACKWARD = 2 / 3


@dataclass(frozen=True)
class Model:
    """An encoder: layers, width, width of the FFN, vocabulary; ``chosen`` is the share of tokens that get logits."""

    layers: int
    width: int
    ffn: int
    vocabulary: int
    chosen: float = 0.0

    @property
    def matrices(self) -> int:
        """Weights that every token is multiplied by."""
        return self.layers * (4 * self.width**2 + 2 * self.width * self.ffn)

    @property
    def parameters(self) -> int:
        """All weights, without the few of norms, biases and positions; a language model's last matrix is tied."""
        return self.matrices + self.vocabulary * self.width

    def flops(self, tokens: int, length: int) -> float:
        """FLOPs of one training step on rows of ``length`` tokens."""
        attention = 4 * self.layers * length * self.width
        return 3 * tokens * (2 * self.matrices + attention + 2 * self.chosen * self.vocabulary * self.width)


@dataclass(frozen=True)
class Machine:
    """What a process has: FLOPs a second at the peak and the share of it that is reached, bytes a second of memory
    and towards other processes."""

    peak: float
    share: float
    memory: float
    exchange: float


@dataclass(frozen=True)
class Cost:
    """Seconds of a step, and of its parts; bytes that each process needs."""

    compute: float
    exchange: float
    optimizer: float
    state: float
    activations: float

    @property
    def seconds(self) -> float:
        """The whole step; the exchange goes on during the backward pass, and only what is left is waited for."""
        return self.compute + max(0.0, self.exchange - BACKWARD * self.compute) + self.optimizer

    @property
    def bytes(self) -> float:
        """Memory of one process."""
        return self.state + self.activations


def step(
    model: Model,
    machine: Machine,
    *,
    tokens: int,
    length: int,
    processes: int = 1,
    micro: int = 0,
    sharded: bool = False,
    bf16: bool = True,
) -> Cost:
    """The cost of an optimizer step of ``tokens`` tokens over all processes, in micro-batches of ``micro`` tokens a
    process (0: its whole share).

    BERT-large, 1.05 million tokens a step, on 32 GPUs of 312 TFLOP/s with 25 GB/s between them:

    >>> large = Model(24, 1024, 4096, 30522, chosen=0.15)
    >>> cost = step(large, Machine(312e12, 0.4, 1.5e12, 25e9), tokens=2**20, length=512, processes=32, micro=2**13)
    >>> print(f"{cost.seconds:.2f} s, {cost.bytes / 2**30:.0f} GB")
    0.53 s, 12 GB
    """
    each, peers = tokens / processes, (processes - 1) / processes
    parameters = model.parameters
    passes = -(-each // micro) if micro else 1
    if sharded:
        # Weights travel in the precision they are multiplied in, gradients in fp32, once a step.
        gathers = 2 * passes * peers * parameters * (2 if bf16 else 4)
        exchange = (gathers + peers * parameters * 4) / machine.exchange
    else:
        exchange = 2 * peers * parameters * 4 / machine.exchange
    over = processes if sharded else 1
    held = min(micro, each) if micro else each
    per_token = 34 * (1 if bf16 else 2) * model.layers * model.width + 8 * model.chosen * model.vocabulary
    return Cost(
        compute=model.flops(tokens, length) / processes / (machine.peak * machine.share),
        exchange=exchange,
        optimizer=MOVED * parameters / over / machine.memory,
        state=STATE * parameters / over,
        activations=held * per_token,
    )
