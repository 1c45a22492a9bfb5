"""ResNet-50 (v1.5) in plain torch.nn, so that environments with and without torchvision compare."""

from typing import Any

from .matmul import set_tf32
from .protocol import Context, Facts, Skip, is_cuda, release
from .timing import rate

CLASSES = 1000


def resnet50(torch: Any) -> Any:
    """The network with random weights: 25 557 032 parameters, the layers of torchvision's resnet50."""
    nn = torch.nn
    layers = [*convolution(nn, 3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for number in range(count):
            layers.append(bottleneck(nn, inputs, width, 1 if number else stride))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


def convolution(nn: Any, inputs: int, outputs: int, kernel: int, stride: int) -> Any:
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)


def bottleneck(nn: Any, inputs: int, width: int, stride: int) -> Any:
    """Three convolutions beside a shortcut; the stride is in the middle one."""

    class Bottleneck(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *convolution(nn, inputs, width, 1, 1),
                nn.ReLU(inplace=True),
                *convolution(nn, width, width, 3, stride),
                nn.ReLU(inplace=True),
                *convolution(nn, width, 4 * width, 1, 1),
            )
            plain = inputs == 4 * width and stride == 1
            self.shortcut = nn.Sequential(*([] if plain else convolution(nn, inputs, 4 * width, 1, stride)))
            self.last = nn.ReLU(inplace=True)

        def forward(self, x: Any) -> Any:
            return self.last(self.body(x) + self.shortcut(x))

    return Bottleneck()


def run(context: Context) -> Facts:
    """Images per second in inference and training, in fp32 (TF32 as torch has it by default) and with fp16 autocast."""
    rows = []
    skipped = []
    for batch in context.options["batches"]:
        for half in [False, True] if is_cuda(context.device) else [False]:
            for training in (False, True):
                try:
                    rows.append(one(context, batch, half, training))
                except Skip as skip:
                    skipped.append(f"batch {batch}: {skip}")
    return {"rows": rows, "skipped": skipped}


def one(context: Context, batch: int, half: bool, training: bool) -> Facts:
    """One row. Raises Skip when the device's memory is too small."""
    torch = context.torch
    set_tf32(torch, False)
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    name = "ResNet-50 {} {}, batch {}".format(
        "training" if training else "inference", "fp16" if half else "fp32", batch
    )
    try:
        action = train(context, batch, half) if training else infer(context, batch, half)
    except RuntimeError as error:
        if "out of memory" in str(error):
            raise Skip("the GPU's free memory is too small") from None
        raise
    row = rate(context, name, "images/s", batch, action)
    del action
    if is_cuda(context.device):
        torch.cuda.empty_cache()
    return row


def prepare(context: Context, batch: int, half: bool) -> Any:
    """The network and a batch on the device; on GPUs with fp16 in the layout that tensor cores like."""
    torch, side = context.torch, context.options["side"]
    network = resnet50(torch).to(context.device)
    images = torch.randn(batch, 3, side, side).to(context.device)
    if half:
        network = network.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    return network, images


def autocast(context: Context, half: bool) -> Any:
    """The context manager of this torch that computes in fp16 where that is safe."""
    torch = context.torch
    if release(torch) < (1, 10):
        return torch.cuda.amp.autocast(enabled=half)
    return torch.autocast(context.device.split(":")[0], dtype=torch.float16 if half else torch.bfloat16, enabled=half)


def infer(context: Context, batch: int, half: bool) -> Any:
    torch = context.torch
    network, images = prepare(context, batch, half)
    network.eval()

    def once() -> None:
        with torch.no_grad(), autocast(context, half):
            network(images)

    return once


def train(context: Context, batch: int, half: bool) -> Any:
    torch = context.torch
    network, images = prepare(context, batch, half)
    labels = torch.randint(0, CLASSES, (batch,)).to(context.device)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3, momentum=0.9)

    def once() -> None:
        optimizer.zero_grad()
        with autocast(context, half):
            loss = torch.nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()

    return once
