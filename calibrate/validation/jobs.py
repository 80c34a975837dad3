"""A case made ready to run: model, wrapping, optimizer, and one step of it."""
import contextlib
import inspect

import torch
import torch.distributed as dist
from torch.nn.attention import SDPBackend, sdpa_kernel

import model
from tensor_parallel import Cut

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH}
_meshes = {}


def mesh_of(device, names, sizes):
    """Communicators stay for the next case that wants the same."""
    from torch.distributed.device_mesh import init_device_mesh
    key = tuple(names) + tuple(sizes)
    if key not in _meshes:
        _meshes[key] = init_device_mesh(device.type, tuple(sizes), mesh_dim_names=tuple(names))
    return _meshes[key]


def flush_meshes(device):
    """A communicator holds on to the tensors of its last collectives until the next one: here is one, of an element."""
    for mesh in _meshes.values():
        for name in mesh.mesh_dim_names:
            dist.all_reduce(torch.zeros(1, device=device), group=mesh[name].get_group())


def dimensions_of(case):
    import dataclasses
    dim = model.MODELS[case["model"]]
    return dataclasses.replace(dim, **{key: case[key] for key in ("layers", "vocabulary") if key in case})


def degrees_of(case):
    """tp, pp, ep, dp of a case; the expert-parallel group is cut out of dp."""
    tp, pp = case.get("tp", 1), case.get("pp", 1)
    return tp, pp, case.get("ep", 1), case["gpus"] // (tp * pp)


def new_optimizer(case, parameters):
    kind = {"fused": {"fused": True}, "foreach": {"foreach": True}, "for": {"foreach": False}}[case.get("adamw", "fused")]
    # A kernel takes tensors of one sort: cut by DTensor, or whole.
    sorts = [[p for p in parameters if hasattr(p, "to_local") == cut] for cut in (True, False)]
    return torch.optim.AdamW([{"params": sort} for sort in sorts if sort], lr=1e-5, betas=(0.9, 0.95), weight_decay=0.1, **kind)


class Job:
    """What a case runs: `step(mark)` is one optimizer step; `mark(name)` ends what is called `name`."""

    def __init__(self, case, device):
        self.case, self.device, self.dim = case, device, dimensions_of(case)
        self.tp, self.pp, self.ep, self.dp = degrees_of(case)
        self.micro, self.sequence, self.accumulate = case.get("mb", 1), case["s"], case.get("accumulate", 1)
        self.loss = None
        self.attention = BACKENDS[case.get("attention", "flash")] if device.type == "cuda" else SDPBackend.MATH
        masters = case.get("precision", "bf16") != "bf16"
        self.parameter = torch.float32 if masters else torch.bfloat16
        self.autocast = case.get("precision") == "amp"

    def build(self, **more):
        previous = torch.get_default_dtype()
        torch.set_default_dtype(self.parameter)
        try:
            with self.device:
                part = model.Decoder(self.dim, self.sequence, torch.bfloat16, recompute=self.case.get("recompute", "none"), **more)
        finally:
            torch.set_default_dtype(previous)
        part.initialise()
        return part

    def random_ids(self, sequences):
        return torch.randint(self.dim.vocabulary, (sequences, self.sequence), device=self.device)

    def parameters(self):
        return [p for group in self.optimizer.param_groups for p in group["params"]]


class Batches(Job):
    """Every rank runs all layers: one GPU, DDP, FSDP2, tensor and expert parallelism."""

    def __init__(self, case, device):
        super().__init__(case, device)
        more = {}
        self.mesh = mesh_of(device, ("dp", "tp"), (self.dp, self.tp)) if case["gpus"] > 1 or case.get("dp_by") else None
        by_dtensor = case.get("tp_by") == "dtensor"
        if self.tp > 1 and not by_dtensor:
            more["tp"] = Cut(self.mesh["tp"].get_group(), case.get("sp", False))
        if self.dim.experts:
            more["moe"] = {"group": dist.group.WORLD if self.ep > 1 else None, "balanced": case.get("balanced", True),
                           "grouped": case.get("grouped", False)}
        torch.manual_seed(1)
        self.model = self.build(**more)
        torch.manual_seed(100 + (dist.get_rank() // self.tp if case["gpus"] > 1 else 0))
        self.ids, self.targets = self.random_ids(self.micro), self.random_ids(self.micro)
        self.scope = contextlib.nullcontext
        if by_dtensor:
            self.cut_by_dtensor()
        if case.get("compile"):
            for layer in self.model.layers:
                layer.compile()
        self.run = self.wrap(case.get("dp_by"))
        self.optimizer = new_optimizer(case, [p for p in self.model.parameters() if p.requires_grad])

    def cut_by_dtensor(self):
        from torch.distributed.tensor import Replicate, Shard
        from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel,
                                                       loss_parallel, parallelize_module)
        sp, tp = self.case.get("sp", False), self.mesh["tp"]
        between = Shard(0) if sp else Replicate()
        plan = {"q": ColwiseParallel(), "k": ColwiseParallel(), "v": ColwiseParallel(), "o": RowwiseParallel(output_layouts=between)}
        mlp = {"gate": ColwiseParallel(), "up": ColwiseParallel(), "down": RowwiseParallel(output_layouts=between)}
        for layer in self.model.layers:
            parallelize_module(layer.attention, tp, plan)
            parallelize_module(layer.mlp, tp, mlp)
            around = {name: PrepareModuleInput(input_layouts=between, desired_input_layouts=Replicate()) for name in ("attention", "mlp")}
            if sp:
                around.update(attention_norm=SequenceParallel(sequence_dim=0), mlp_norm=SequenceParallel(sequence_dim=0))
            parallelize_module(layer, tp, around)
        ends = {"embedding": RowwiseParallel(input_layouts=Replicate(), output_layouts=between),
                "head": ColwiseParallel(input_layouts=between, output_layouts=Shard(-1), use_local_output=False)}
        if sp:
            ends["norm"] = SequenceParallel(sequence_dim=0)
        parallelize_module(self.model, tp, ends)
        self.scope = loss_parallel

    def wrap(self, by):
        case, module = self.case, self.model
        if by == "ddp":
            from torch.nn.parallel import DistributedDataParallel as DDP
            if self.ep > 1:  # experts are different ones on each rank
                own = [n for n, _ in module.named_parameters() if n.endswith(("mlp.gate", "mlp.up", "mlp.down"))]
                DDP._set_params_and_buffers_to_ignore_for_model(module, own)
            more = {"bucket_cap_mb": case["bucket_MiB"]} if "bucket_MiB" in case else {}
            return DDP(module, process_group=self.mesh["dp"].get_group(), gradient_as_bucket_view=case.get("bucket_view", True),
                       broadcast_buffers=False, **more)
        if by == "fsdp":
            from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
            policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=getattr(torch, case.get("reduce", "float32")))
            mesh = self.mesh["dp"]
            if "hsdp" in case:
                mesh = mesh_of(self.device, ("replicate", "shard"), (self.dp // case["hsdp"], case["hsdp"]))
            for layer in module.layers:
                fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward=case.get("reshard", True))
            fully_shard(module, mesh=mesh, mp_policy=policy)
        return module

    def unreduced(self, last):
        """Gradients of this micro-batch stay here."""
        if last or self.case.get("reduce_each", False) or self.case.get("dp_by") != "ddp":
            return contextlib.nullcontext()
        return self.run.no_sync()

    def step(self, mark):
        with sdpa_kernel(self.attention), self.scope():
            for i in range(self.accumulate):
                last = i == self.accumulate - 1
                if self.case.get("dp_by") == "fsdp" and not self.case.get("reduce_each", True):
                    self.run.set_requires_gradient_sync(last)
                with self.unreduced(last):
                    with torch.autocast(self.device.type, torch.bfloat16, enabled=self.autocast):
                        self.loss = self.run(self.ids, self.targets) / self.accumulate
                    mark("forward")
                    self.loss.backward()
                    if last and hasattr(self.model.tp, "finish"):
                        self.model.tp.finish(self.model)
                    mark("backward")
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        mark("optimizer")


class Pipeline(Job):
    """Stages on pp ranks by torch.distributed.pipelining; each stage may be data-parallel."""

    def __init__(self, case, device):
        super().__init__(case, device)
        from torch.distributed.pipelining import PipelineStage, schedules
        self.micros, chunks = case["micros"], case.get("vp", 1)
        # Stages of a pipeline are next to one another, as tensor parallelism would be: on one node it makes no difference.
        mesh = mesh_of(device, ("dp", "pp"), (self.dp, self.pp))
        rank, group = mesh.get_local_rank("pp"), mesh["pp"].get_group()
        n, v = self.pp * chunks, case["schedule"] in ("zb_v", "dualpipe_v")
        self.here = [rank, n - 1 - rank] if v else [rank + c * self.pp for c in range(chunks)]
        share, rest = divmod(self.dim.layers, n)
        if rest:
            raise ValueError(f"{self.dim.layers} layers do not divide by {n} stages")
        torch.manual_seed(1 + rank)
        self.parts = [self.build(first=c * share, last=(c + 1) * share) for c in self.here]
        self.ids = self.random_ids(self.micro * self.micros)
        between = torch.empty(self.micro * self.sequence, self.dim.hidden, dtype=self.parameter, device="meta")
        first = torch.empty(self.micro, self.sequence, dtype=torch.int64, device="meta")
        loss = torch.empty(1, dtype=torch.float32, device="meta")
        self.stages = []
        for part, c in zip(self.parts, self.here):
            part.targets = self.random_ids(self.micro)
            module = part
            if self.dp > 1:
                from torch.nn.parallel import DistributedDataParallel as DDP
                module = DDP(part, process_group=mesh["dp"].get_group(), gradient_as_bucket_view=True, broadcast_buffers=False)
            self.stages.append(PipelineStage(module, c, n, device, group=group, input_args=(first if c == 0 else between,),
                                             output_args=(loss if c == n - 1 else between,)))
        self.last = n - 1 in self.here
        kind = {"gpipe": "ScheduleGPipe", "1f1b": "Schedule1F1B", "interleaved": "ScheduleInterleaved1F1B",
                "zb_v": "ScheduleZBVZeroBubble", "dualpipe_v": "ScheduleDualPipeV",
                "zb_h1": "ScheduleInterleavedZeroBubble"}[case["schedule"]]
        kind = getattr(schedules, kind)
        more = {"scale_grads": False} if "scale_grads" in inspect.signature(kind.__init__).parameters else {}
        stages = self.stages[0] if issubclass(kind, schedules.PipelineScheduleSingle) else self.stages
        self.schedule = kind(stages, self.micros, loss_fn=lambda out, _: out.sum() / self.micros, **more)
        self.optimizer = new_optimizer(case, [p for part in self.parts for p in part.parameters()])
        self.nothing = torch.zeros(self.micros, device=device)
        self.mark = lambda name: None
        for stage in self.stages:
            self.watch(stage, "forward_one_chunk", "F")
            self.watch(stage, "backward_one_chunk", "B")
            self.watch(stage, "backward_weight_one_chunk", "W")

    def watch(self, stage, name, letter):
        """Marks around what a stage does for a micro-batch, so that a trace shows the schedule."""
        inner = getattr(stage, name)

        def outer(micro, *args, **more):
            self.mark(f"<{letter}{stage.stage_index}.{micro}")
            out = inner(micro, *args, **more)
            self.mark(f">{letter}{stage.stage_index}.{micro}")
            return out
        setattr(stage, name, outer)

    def step(self, mark):
        self.mark = mark
        losses = [] if self.last else None
        with sdpa_kernel(self.attention):
            args = (self.ids,) if 0 in self.here else ()
            self.schedule.step(*args, target=self.nothing if self.last else None, losses=losses)
        mark("pipeline")
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        mark("optimizer")
        if losses:
            self.loss = torch.stack([loss.detach().view(()) for loss in losses]).sum()


def new_job(case, device):
    return Pipeline(case, device) if case.get("pp", 1) > 1 else Batches(case, device)


def scenario_of(case, optimizer_elements=None):
    """The case in keys of forerun's scenarios; what they have no key for is in `torch`."""
    tp, pp, ep, dp = degrees_of(case)
    precision = case.get("precision", "bf16")
    fsdp = case.get("dp_by") == "fsdp"
    kept = "bf16" if precision == "bf16" else "fp32"
    reduced = ("bf16" if case.get("reduce") == "bfloat16" else "fp32") if fsdp else kept
    micros = case.get("micros", case.get("accumulate", 1))
    work = {"kind": "training", "sequence": case["s"], "micro_batch": case.get("mb", 1),
            "global_batch": case.get("mb", 1) * micros * dp,
            "precision": {"parameters": kept, "compute": "bf16", "gradients": kept, "reduce": reduced, "gather": "bf16" if fsdp else
                          "none", "master": "none", "optimizer": kept},
            "parallel": {"tp": tp, "sp": case.get("sp", False), "pp": pp, "vp": case.get("vp", 1), "cp": 1, "ep": ep,
                         "zero": 3 if fsdp else 0},
            "recompute": case.get("recompute", "none"), "optimizer": "adamw", "accumulate": 1 if pp > 1 else micros,
            "framework": "fused" if case.get("compile") else "eager"}
    if pp > 1:
        work["schedule"] = case["schedule"]
    if case.get("dp_by") == "ddp":
        work["ddp"] = {"bucket": f"{case.get('bucket_MiB', 25)} MiB"}
    if fsdp:
        work["fsdp"] = {"reshard": case.get("reshard", True), "prefetch": 1}
        if "hsdp" in case:
            work["hsdp"] = {"shard": case["hsdp"]}
    more = {"attention": case.get("attention", "flash"), "adamw": case.get("adamw", "fused"), "autocast": precision == "amp"}
    for key in ("bucket_view", "reduce_each", "balanced", "grouped", "tp_by", "dp_by"):
        if key in case:
            more[key] = case[key]
    if case.get("dp_by") == "ddp":
        more["first_bucket_MiB"] = case.get("bucket_MiB", 1)
    dim = dimensions_of(case)
    return {"gpus": case["gpus"], "model": dict(dim.scenario(), name=case["model"]), "workload": work, "torch": more}
