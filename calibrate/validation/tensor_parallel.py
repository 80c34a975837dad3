"""Tensor parallelism as Megatron has it (Shoeybi et al. 1909.08053 section 3, Korthikanti et al. 2205.05198 section 4), written with
plain collectives: every one of them is on the critical path, and what is gathered for a matrix is kept for its backward pass."""
import torch
import torch.distributed as dist
import torch.nn.functional as F


class Whole:
    """No tensor parallelism."""
    size = 1

    def enter(self, x):
        return x

    def leave(self, x):
        return x

    def embed(self, embedding, ids):
        return embedding(ids)

    def cross_entropy(self, logits, targets):
        return F.cross_entropy(logits, targets)


def gathered(x, group):
    out = x.new_empty((x.shape[0] * dist.get_world_size(group), *x.shape[1:]))
    dist.all_gather_into_tensor(out, x.contiguous(), group=group)
    return out


def scattered(x, group):
    out = x.new_empty((x.shape[0] // dist.get_world_size(group), *x.shape[1:]))
    dist.reduce_scatter_tensor(out, x.contiguous(), group=group)
    return out


def summed(x, group):
    x = x.contiguous()
    dist.all_reduce(x, group=group)
    return x


def same(x, _):
    return x


class Collective(torch.autograd.Function):
    """One function forward, another backward."""

    @staticmethod
    def forward(ctx, x, ahead, back, group):
        ctx.back, ctx.group = back, group
        return ahead(x, group)

    @staticmethod
    def backward(ctx, g):
        return ctx.back(g, ctx.group), None, None, None


class CutEntropy(torch.autograd.Function):
    """Cross-entropy of logits [tokens, vocabulary / ranks] that each rank has its columns of: three all-reduces of a number a token."""

    @staticmethod
    def forward(ctx, logits, targets, rank, group):
        columns = logits.shape[-1]
        most = logits.max(dim=-1).values
        dist.all_reduce(most, op=dist.ReduceOp.MAX, group=group)
        logits = logits - most[:, None]
        mine = targets - rank * columns
        other = (mine < 0) | (mine >= columns)
        mine = mine.masked_fill(other, 0)
        hit = logits.gather(1, mine[:, None]).squeeze(1).masked_fill(other, 0.0)
        dist.all_reduce(hit, group=group)
        logits = logits.exp_()
        total = logits.sum(dim=-1)
        dist.all_reduce(total, group=group)
        logits.div_(total[:, None])
        ctx.save_for_backward(logits, mine, other)
        return (total.log() - hit).mean()

    @staticmethod
    def backward(ctx, g):
        p, mine, other = ctx.saved_tensors
        p.scatter_add_(1, mine[:, None], (other.to(p.dtype) - 1)[:, None])
        return p.mul_(g / p.shape[0]), None, None, None


class Cut:
    """Matrices cut over `group`; with sequence parallelism what lies between them is cut by tokens."""

    def __init__(self, group, sequence_parallel):
        self.group, self.sp = group, sequence_parallel
        self.size, self.rank = dist.get_world_size(group), dist.get_rank(group)

    def enter(self, x):
        return Collective.apply(x, *((gathered, scattered) if self.sp else (same, summed)), self.group)

    def leave(self, x):
        return Collective.apply(x, *((scattered, gathered) if self.sp else (summed, same)), self.group)

    def embed(self, embedding, ids):
        rows = embedding.weight.shape[0]
        mine = ids - self.rank * rows
        other = (mine < 0) | (mine >= rows)
        x = embedding(mine.masked_fill(other, 0)).masked_fill(other[:, None], 0.0)
        return self.leave(x)

    def cross_entropy(self, logits, targets):
        return CutEntropy.apply(logits, targets, self.rank, self.group)

    def finish(self, module):
        """Norms' gradients are of a rank's own tokens: their sum, in one piece."""
        if not self.sp:
            return
        grads = [p.grad for p in module.parameters() if p.dim() == 1]
        flat = torch.cat([g.view(-1) for g in grads])
        dist.all_reduce(flat, group=self.group)
        at = 0
        for g in grads:
            g.copy_(flat[at:at + g.numel()].view_as(g))
            at += g.numel()
