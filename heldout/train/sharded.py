"""Weights that are spread over the processes (FSDP2, through accelerate): shard, gather whole, put back, answer.

A process holds a share of every tensor, as a DTensor, and forward passes are exchanges: every process must make as many
as the others. Gathering is an exchange too. What is written is whole, so one process, or another number, can read it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.distributed.fsdp import MixedPrecisionPolicy
from torch.distributed.tensor import DTensor, distribute_tensor
from transformers import PreTrainedModel

from heldout.errors import Failed, Refused


def check_sharding(accelerator: Accelerator) -> None:
    """Refuse what launches FSDP in a way that we cannot follow; set the precision of what is multiplied and summed."""
    plugin = accelerator.state.fsdp_plugin
    if not accelerator.is_fsdp2:
        raise Refused("FSDP 1: checkpoints are written of FSDP 2 alone; set fsdp_version: 2 (see recipes/accelerate)")
    if plugin.cpu_ram_efficient_loading:
        raise Refused(
            "fsdp_cpu_ram_efficient_loading: only one process would read the model, and fresh heads would differ; "
            "set it to false (see recipes/accelerate)"
        )
    if accelerator.mixed_precision == "bf16":
        # Gradients are summed and losses computed in fp32, as without sharding.
        plugin.mixed_precision_policy = MixedPrecisionPolicy(
            param_dtype=torch.bfloat16, reduce_dtype=torch.float32, output_dtype=torch.float32
        )


def prepared(accelerator: Accelerator, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[Any, Any]:
    """Model and optimizer as accelerate prepares them; sharded, each of the encoder's layers is a unit of its own."""
    if accelerator.is_fsdp2:
        accelerator.state.fsdp_plugin.transformer_cls_names_to_wrap = _layers(pretrained(model))
    ready: tuple[Any, Any] = accelerator.prepare(model, optimizer)
    return ready


def _layers(model: PreTrainedModel) -> list[str]:
    """The class of the encoder's layers; none where they stand in no one list (the whole model is then one unit)."""
    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    of_layers = [each for each in lists if len(each) == model.config.num_hidden_layers]
    return sorted({type(layer).__name__ for each in of_layers[:1] for layer in each})


def replica(accelerator: Accelerator, model: nn.Module) -> Any:
    """A model that only answers: whole in every process, on its device, however another one is trained."""
    return accelerator.prepare_model(model, device_placement=True, evaluation_mode=True)


def pretrained(model: nn.Module) -> PreTrainedModel:
    """The model of transformers inside of what is trained."""
    return next(module for module in model.modules() if isinstance(module, PreTrainedModel))


def share(batches: Sequence[Sequence[int]], accelerator: Accelerator) -> Iterator[tuple[Sequence[int], bool]]:
    """The batches of this process, and whether they count.

    Where a forward pass is an exchange, a process with one batch less answers one more time, for nothing.
    """
    mine = batches[accelerator.process_index :: accelerator.num_processes]
    yield from ((rows, True) for rows in mine)
    if accelerator.is_fsdp2 and len(mine) * accelerator.num_processes < len(batches):
        yield batches[0], False


def answering(accelerator: Accelerator) -> AbstractContextManager[Any]:
    """No gradients; and where the loop is faster for it, tensors that could never have any (FSDP reuses its own)."""
    return torch.no_grad() if accelerator.is_fsdp2 else torch.inference_mode()


def whole(tensor: Tensor) -> Tensor:
    """The whole of a tensor that may be spread; every process must ask."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def gathered(tensors: Iterable[tuple[str, Tensor]], keep: bool) -> dict[str, Tensor]:
    """Each tensor whole and on the CPU; every process must ask, and keeps none without ``keep``."""
    found = {}
    for name, tensor in tensors:
        each = whole(tensor)
        if keep:
            found[name] = each.cpu().contiguous()
    return found


def weights(model: nn.Module, *, keep: bool = True) -> dict[str, Tensor]:
    """Every tensor of a model once, as ``gathered`` gives them, under the first of its names."""
    return gathered(((name, tensor.detach()) for name, tensor in _each_once(model).items()), keep)


def _each_once(model: nn.Module) -> dict[str, Tensor]:
    found, seen = {}, set[int]()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found[name] = tensor
    return found


def put(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put whole tensors, as ``weights`` gives them, into a sharded model: every process keeps its share.

    Failed where they are not those of the model: one that is lacking would stay as it was drawn.
    """
    own = _each_once(model)
    if odd := sorted(own.keys() ^ tensors.keys()):
        side = "lacks" if odd[0] in own else "has, and the model does not,"
        raise Failed(f"the checkpoint {side} {odd[0]} ({len(odd)} such names); train again with another --out")
    with torch.no_grad():
        for name, tensor in tensors.items():
            own[name].copy_(spread(tensor, own[name]))


def spread(tensor: Tensor, like: Tensor) -> Tensor:
    """A whole tensor in the shares of another one, without an exchange; as it is where that one is not spread."""
    if not isinstance(like, DTensor) or tensor.shape != like.shape:
        return tensor
    on_device = tensor.to(like.device, like.dtype)
    return distribute_tensor(on_device, like.device_mesh, like.placements, src_data_rank=None)
