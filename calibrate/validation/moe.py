"""A mixture of experts with expert parallelism, written with plain all-to-alls: counts, dispatch, experts, combine."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, sent, received, group):
        ctx.sent, ctx.received, ctx.group = sent, received, group
        out = x.new_empty((sum(received), x.shape[1]))
        dist.all_to_all_single(out, x.contiguous(), received, sent, group=group)
        return out

    @staticmethod
    def backward(ctx, g):
        out = g.new_empty((sum(ctx.sent), g.shape[1]))
        dist.all_to_all_single(out, g.contiguous(), ctx.sent, ctx.received, group=ctx.group)
        return out, None, None, None


class Moe(nn.Module):
    """`balanced`: each expert gets the same number of tokens, whatever the router says. `grouped`: one kernel for all experts of a
    matrix, else a loop of them."""

    def __init__(self, hidden, ffn, experts, top_k, group=None, balanced=True, grouped=False):
        super().__init__()
        self.group, self.experts, self.top_k, self.balanced, self.grouped = group, experts, top_k, balanced, grouped
        self.ranks = dist.get_world_size(group) if group is not None else 1
        self.here = experts // self.ranks
        self.router = nn.Linear(hidden, experts, bias=False)
        self.gate = nn.Parameter(torch.empty(self.here, ffn, hidden))
        self.up = nn.Parameter(torch.empty(self.here, ffn, hidden))
        self.down = nn.Parameter(torch.empty(self.here, hidden, ffn))
        self.fullest = None  # rows of this rank's experts over the mean, last seen

    def route(self, x):
        chances = F.softmax(self.router(x).float(), dim=-1)
        if not self.balanced:
            return torch.topk(chances, self.top_k, dim=-1)
        # Neighbouring experts for a token, the next ones for the next token: uniform, and every rank sends to every rank.
        first = torch.arange(x.shape[0], device=x.device)[:, None] * self.top_k
        chosen = (first + torch.arange(self.top_k, device=x.device)) % self.experts
        return chances.gather(1, chosen), chosen

    def work(self, x, counts):
        """x: rows by expert; counts: of each, on the device when grouped, else a list."""
        if self.grouped:
            ends = counts.cumsum(0).to(torch.int32)
            y = F.silu(torch._grouped_mm(x, self.gate.transpose(1, 2), offs=ends))
            y = y * torch._grouped_mm(x, self.up.transpose(1, 2), offs=ends)
            return torch._grouped_mm(y, self.down.transpose(1, 2), offs=ends)
        out = []
        for rows, gate, up, down in zip(x.split(counts), self.gate, self.up, self.down):
            out.append(F.linear(F.silu(F.linear(rows, gate)) * F.linear(rows, up), down))
        return torch.cat(out)

    def forward(self, x):
        weights, chosen = self.route(x)
        flat = chosen.view(-1)
        order = flat.argsort(stable=True)
        counts = torch.bincount(flat, minlength=self.experts)
        rows = x.index_select(0, order // self.top_k)
        if self.ranks > 1:
            theirs = torch.empty_like(counts)
            dist.all_to_all_single(theirs, counts, group=self.group)
            lists = torch.stack((counts, theirs)).view(2, self.ranks, self.here).tolist()  # the host waits here
            sent, received = ([sum(r) for r in side] for side in lists)
            rows = Exchange.apply(rows, sent, received, self.group)
            expert = torch.arange(self.here, device=x.device).repeat(self.ranks).repeat_interleave(theirs, output_size=rows.shape[0])
            inner = expert.argsort(stable=True)
            rows = rows.index_select(0, inner)
            counts = theirs.view(self.ranks, self.here).sum(0)
            host = [sum(r[e] for r in lists[1]) for e in range(self.here)]
            self.fullest = rows.shape[0] / flat.shape[0]
        else:
            host = None if self.grouped else counts.tolist()
        rows = self.work(rows, counts if self.grouped else host)
        if self.ranks > 1:
            rows = Exchange.apply(torch.empty_like(rows).index_copy(0, inner, rows), received, sent, self.group)
        rows = torch.empty_like(rows).index_copy(0, order, rows).view(-1, self.top_k, x.shape[1])
        return (rows * weights.to(rows.dtype)[..., None]).sum(1)
