"""Several processes that train one model in shards (FSDP2), as a launcher started them.

`torchrun` and its like give each process RANK, LOCAL_RANK and WORLD_SIZE. Rank 0 does everything;
the others hold their shards and follow: whatever rank 0 calls on its model is called on theirs.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor, distributed
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

PATIENCE = timedelta(days=2)
"""That the others wait for rank 0 to need them: a batch may take hours."""


@dataclass(frozen=True)
class Ranks:
    """This process among its like; alone where no launcher says otherwise."""

    rank: int = 0
    size: int = 1

    def tell(self, said: Any) -> None:
        """From rank 0 to all others: what to do next; None for nothing more."""
        if self.size > 1 and self.rank == 0:
            distributed.broadcast_object_list([said], 0, device=torch.device("cpu"))

    def heard(self) -> Any:
        """What rank 0 says."""
        box = [None]
        distributed.broadcast_object_list(box, 0, device=torch.device("cpu"))
        return box[0]

    def gathered(self, mine: Any) -> Sequence[Any]:
        """A value of each rank, in their order."""
        if self.size == 1:
            return [mine]
        found: list[Any] = [None] * self.size
        distributed.all_gather_object(found, mine)
        return found


def joined(device: str) -> tuple[Ranks, torch.device]:
    """This process among its like, and where it computes."""
    if (size := count()) == 1:
        return Ranks(), torch.device(device)
    own = torch.device(device)
    if own.type == "cuda":
        own = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(own)
    if not distributed.is_initialized():
        backend = "cpu:gloo,cuda:nccl" if own.type == "cuda" else "gloo"
        distributed.init_process_group(backend, timeout=PATIENCE)
    return Ranks(distributed.get_rank(), size), own


def rank() -> int:
    """Of this process, before it has joined the others."""
    return int(os.environ.get("RANK", "0")) if count() > 1 else 0


def count() -> int:
    """Of the processes that a launcher started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def left(ranks: Ranks) -> None:
    """The end of working together."""
    if ranks.size > 1 and distributed.is_initialized():
        distributed.destroy_process_group()


def sharded(scorer: Any) -> None:
    """Each layer is a shard of its own; embeddings, norm and head are the outermost one."""
    for layer in scorer.inner.base_model.layers:
        fully_shard(layer)
    fully_shard(scorer)


def whole(value: Tensor) -> Tensor:
    """A tensor from its shards; every rank has to ask for it."""
    return value.full_tensor() if isinstance(value, DTensor) else value


def like(value: Tensor, own: Tensor) -> Tensor:
    """A whole tensor, in shards where another of its shape is."""
    if not isinstance(own, DTensor) or value.shape != own.shape:
        return value
    return distribute_tensor(value.to(own.device), own.device_mesh, own.placements)
