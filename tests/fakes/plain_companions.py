"""torchvision and torchaudio as far as verification uses them, written plainly on top of any torch."""

TORCHVISION = {
    "torchvision/__init__.py": "",
    "torchvision/ops.py": """
import torch

def nms(boxes, scores, threshold):
    order, kept = scores.argsort(descending=True).tolist(), []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while order:
        best, order = order[0], order[1:]
        kept.append(best)
        low, high = torch.max(boxes[order, :2], boxes[best, :2]), torch.min(boxes[order, 2:], boxes[best, 2:])
        both = (high - low).clamp(min=0).prod(1)
        same = both / (area[order] + area[best] - both)
        order = [n for n, s in zip(order, same.tolist()) if s <= threshold]
    return torch.tensor(kept)
""",
    "torchvision/transforms/__init__.py": "",
    "torchvision/transforms/functional.py": """
import torch

def resize(image, size):
    return torch.nn.functional.interpolate(image[None], size, mode="bilinear", antialias=True)[0]
""",
}

TORCHAUDIO = {
    "torchaudio/__init__.py": "",
    "torchaudio/transforms.py": """
import torch

class Spectrogram(torch.nn.Module):
    def __init__(self, n_fft, hop_length):
        super().__init__()
        self.n_fft, self.hop_length = n_fft, hop_length
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, wave):
        found = torch.stft(wave, self.n_fft, self.hop_length, window=self.window, center=True, return_complex=True)
        return found.abs() ** 2
""",
    "torchaudio/functional.py": """
import torch

def lfilter(wave, a, b, clamp=True):
    out = torch.zeros_like(wave)
    for n in range(wave.shape[1]):
        for k in range(len(a)):
            if n >= k:
                out[:, n] += b[k] * wave[:, n - k]
                if k:
                    out[:, n] -= a[k] * out[:, n - k]
    return out

def rnnt_loss(logits, targets, logit_lengths, target_lengths, blank=0, reduction="mean"):
    scores = torch.log_softmax(logits, -1)[0]
    frames, labels = int(logit_lengths[0]), int(target_lengths[0])
    paths = [([(0, 0)], torch.tensor(0.0))]
    total = []
    while paths:
        at, score = paths.pop()
        t, u = at[-1]
        if u < labels:
            paths.append((at + [(t, u + 1)], score + scores[t, u, targets[0, u]]))
        if t + 1 < frames:
            paths.append((at + [(t + 1, u)], score + scores[t, u, blank]))
        elif u == labels:
            total.append(score + scores[t, u, blank])
    return -torch.logsumexp(torch.stack(total), 0)
""",
}
