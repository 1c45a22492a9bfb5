# ruff: noqa: UP006, UP035
"""torchvision and torchaudio: they load beside this torch, and their compiled operators give the right results."""

import importlib
import math
import random
from typing import Any, Dict, List

from . import close
from .classic import fourier
from .protocol import Context, Facts, Skip

_BROKEN: Dict[str, str] = {}


def load(module: str) -> Any:
    """Import a module of a companion; after a first failure the other steps are skipped, not failed again."""
    top = module.split(".")[0]
    if top in _BROKEN:
        raise Skip(_BROKEN[top])
    try:
        return importlib.import_module(module)
    except BaseException:
        _BROKEN[top] = top + " can't be imported"
        raise


def nms(context: Context) -> Facts:
    """torchvision.ops.nms on the CPU and on the device against a plain loop."""
    ops = load("torchvision.ops")
    boxes, scores = random_boxes(120)
    want = plain_nms(boxes, scores, 0.5)
    errors = []
    for device in sorted({"cpu", context.device}):
        there = context.torch.tensor(boxes).to(device), context.torch.tensor(scores).to(device)
        errors.append(close.exact("boxes kept on " + device, ops.nms(there[0], there[1], 0.5).tolist(), want))
    return {"errors": errors}


def random_boxes(count: int) -> Any:
    """Boxes with whole-numbered corners, so that no overlap is within rounding of the threshold; distinct scores."""
    boxes = []
    for _ in range(count):
        left, top = random.randrange(40), random.randrange(40)
        boxes.append([float(n) for n in (left, top, left + random.randrange(5, 30), top + random.randrange(5, 30))])
    scores = [n / count for n in range(count)]
    random.shuffle(scores)
    return boxes, scores


def plain_nms(boxes: Any, scores: Any, threshold: float) -> List[int]:
    """Greedy non-maximum suppression."""
    kept: List[int] = []
    for i in sorted(range(len(boxes)), key=lambda n: -scores[n]):
        if all(overlap(boxes[i], boxes[k]) <= threshold for k in kept):
            kept.append(i)
    return kept


def overlap(a: Any, b: Any) -> float:
    """Intersection over union of two boxes."""
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return float(width * height / (areas - width * height))


def resize(context: Context) -> Facts:
    """A bilinear enlargement by torchvision against two interpolation matrices in float64."""
    torch = context.torch
    functional = load("torchvision.transforms.functional")
    image = torch.rand(3, 12, 10)
    got = functional.resize(image.to(context.device), [30, 23])
    rows, columns = interpolation(torch, 12, 30), interpolation(torch, 10, 23)
    want = torch.matmul(torch.matmul(rows, image.double()), columns.t())
    return {"errors": [close.relative("resize", got, want, 1e-5)]}


def interpolation(torch: Any, size: int, wanted: int) -> Any:
    """The matrix of a linear interpolation from `size` points to `wanted`, pixel centres aligned."""
    matrix = torch.zeros(wanted, size).double()
    for row in range(wanted):
        place = min(max((row + 0.5) * size / wanted - 0.5, 0.0), size - 1.0)
        low = min(int(place), size - 2)
        matrix[row, low] = 1 - (place - low)
        matrix[row, low + 1] = place - low
    return matrix


def spectrogram(context: Context) -> Facts:
    """torchaudio's Spectrogram against windowed frames times a Fourier matrix."""
    torch = context.torch
    transforms = load("torchaudio.transforms")
    wave = torch.randn(2, 512)
    got = transforms.Spectrogram(n_fft=64, hop_length=32).to(context.device)(wave.to(context.device))
    padded = torch.cat([wave[:, 1:33].flip(1), wave, wave[:, -33:-1].flip(1)], 1).double()
    window = 0.5 - 0.5 * torch.cos(2 * math.pi * torch.arange(64).double() / 64)
    frames = padded.unfold(1, 64, 32) * window
    cosine, sine = fourier(torch, 64)
    want = torch.matmul(frames, cosine) ** 2 + torch.matmul(frames, sine) ** 2
    return {"errors": [close.relative("spectrogram", got, want.transpose(1, 2), 1e-4)]}


def lfilter(context: Context) -> Facts:
    """torchaudio's IIR filter against its recurrence."""
    torch = context.torch
    functional = load("torchaudio.functional")
    wave, a, b = torch.rand(200) - 0.5, [1.0, -0.6, 0.2], [0.3, 0.1, -0.2]
    coefficients = torch.tensor(a).to(context.device), torch.tensor(b).to(context.device)
    got = functional.lfilter(wave.view(1, -1).to(context.device), coefficients[0], coefficients[1], clamp=False)
    x = wave.tolist()
    y: List[float] = []
    for n in range(len(x)):
        value = sum(b[k] * x[n - k] for k in range(3) if n >= k) - sum(a[k] * y[n - k] for k in (1, 2) if n >= k)
        y.append(value)
    return {"errors": [close.relative("lfilter", got, torch.tensor(y, dtype=torch.float64).view(1, -1), 1e-4)]}


def rnnt_loss(context: Context) -> Facts:
    """torchaudio's compiled transducer loss against the forward recursion in float64."""
    torch = context.torch
    functional = load("torchaudio.functional")
    if not hasattr(functional, "rnnt_loss"):
        raise Skip("this torchaudio has no rnnt_loss")
    frames, labels, words = 6, 3, 5
    logits, targets = torch.randn(1, frames, labels + 1, words), torch.randint(1, words, (1, labels))
    sizes = torch.tensor([[frames], [labels]]).int().to(context.device)
    got = functional.rnnt_loss(
        logits.to(context.device), targets.int().to(context.device), sizes[0], sizes[1], blank=0, reduction="mean"
    )
    want = transducer(torch.log_softmax(logits[0].double(), -1).tolist(), targets[0].tolist())
    return {"errors": [close.relative("rnnt_loss", got.view(1), torch.tensor([want], dtype=torch.float64), 1e-4)]}


def transducer(scores: Any, targets: Any) -> float:
    """The negative log-likelihood of the targets; `scores[t][u][word]` are log-probabilities, word 0 is the blank."""
    frames, labels = len(scores), len(targets)
    alpha = [[-math.inf] * (labels + 1) for _ in range(frames)]
    for t in range(frames):
        for u in range(labels + 1):
            ways = [0.0] if t == u == 0 else []
            if t:
                ways.append(alpha[t - 1][u] + scores[t - 1][u][0])
            if u:
                ways.append(alpha[t][u - 1] + scores[t][u - 1][targets[u - 1]])
            top = max(ways)
            alpha[t][u] = top + math.log(sum(math.exp(way - top) for way in ways))
    return -float(alpha[-1][-1] + scores[-1][-1][0])
