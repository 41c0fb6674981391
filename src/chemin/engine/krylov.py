"""The fast walk on ramps: of the poles of a move, as many as it needs.

S = D^1/2 A^-1 D^1/2 of `rational.py` is met only as (I + d S)^-1 p, p = D^1/2 y. Lanczos' method
gives it in a space of k vectors, each by one solve with a factor of A:

    S V = V T + beta v e_k',      u(d) = |p| (I + d T)^-1 e_1,      w = V u(d)

and with T = Q diag(theta) Q' that is the same line and sum over poles, k of them. What it leaves of
the equations of the free variables after a length s is known exactly,

    s^3 beta |u_k(s)| D^1/2 v,

and it grows with s on the way down: no power of T has a negative entry. So the space is enlarged
until this is below the tolerance of residuals where the move ends. Then the functions were right
all along it, and no crossing was stepped over. If it does not get there the move is cut.

A is factored by Cholesky's method: with ramps it is positive definite on the rows, and the border
is taken by its Schur complement. A state with a free variable on a plain tread is left to the
reference.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from ..problems.staircase import Floats, Mask
from .moves import Form
from .rational import RationalWalker
from .reference import Move
from .tolerances import NEARBY, REALLY, SPANNED, UNSOLVED

FIRST = 4  # poles to begin with
MORE = 2  # poles at a time
MOST = 40  # poles; a move that asks for more is cut
MENDS = 2  # steps of refinement with a factor so near: each gains as much as it is near


class Factor:
    """A = G_FF + t D by Cholesky's method, with the border."""

    def __init__(self, A: Floats, rows: int) -> None:
        self.A, self.rows = A, rows
        self.low, info = lapack.dpotrf(A[:rows, :rows], lower=1, clean=0)
        self.regular = info == 0
        if self.regular and rows < len(A):
            self.border = A[:rows, rows:]
            self.held = self._core(self.border)
            self.schur = self.border.T @ self.held

    def _core(self, b: Floats) -> Floats:
        return np.asarray(lapack.dpotrs(self.low, b, lower=1)[0])

    def once(self, b: Floats) -> Floats:
        """A^-1 b, as the factor has it."""
        n = self.rows
        x = self._core(b[:n])
        if n == len(self.A):
            return x
        y = np.linalg.solve(self.schur, self.border.T @ x - b[n:])
        return np.concatenate([x - self.held @ y, y])

    def solve(self, b: Floats) -> Floats:
        """A^-1 b, refined once."""
        x = self.once(b)
        return x + self.once(b - self.A @ x)


class Space:
    """Lanczos' space of S from p, grown on demand."""

    def __init__(self, factor: Factor, root: Floats, p: Floats) -> None:
        self.factor, self.root = factor, root
        self.norm = float(np.linalg.norm(p))
        self.V = [p / self.norm] if self.norm else []
        self.W: list[Floats] = []  # A^-1 D^1/2 v
        self.alpha: list[float] = []
        self.beta: list[float] = []

    @property
    def complete(self) -> bool:
        return len(self.V) == len(self.W)

    def grow(self, k: int) -> None:
        while len(self.W) < k and not self.complete:
            v = self.V[-1]
            w = self.factor.once(self.root * v)
            self.W.append(w)
            s = self.root * w
            self.alpha.append(float(v @ s))
            basis = np.array(self.V)
            for _ in range(2):  # twice is enough
                s = s - basis.T @ (basis @ s)
            beta = float(np.linalg.norm(s))
            self.beta.append(beta)
            goes_on = SPANNED * max(map(abs, self.alpha)) < beta < np.inf
            if goes_on and len(self.V) < np.count_nonzero(self.root):
                self.V.append(s / beta)

    def form(self, way: float, most: float) -> tuple[Floats, Floats]:
        """near (k,), none larger than `most`, and C (k, k): the weights are W C."""
        theta, Q = self.spectrum
        return -way * np.clip(theta, 0.0, most), -way * self.norm * Q * Q[:1]

    @property
    def spectrum(self) -> tuple[Floats, Floats]:
        if len(self.alpha) <= 1:
            return np.array(self.alpha), np.ones((len(self.alpha), len(self.alpha)))
        theta, Q = scipy.linalg.eigh_tridiagonal(self.alpha, self.beta[:-1])
        return theta, Q

    def leaves(self, s: float, way: float) -> float:
        """The largest residual of the free variables after a length s."""
        if self.complete:
            return 0.0
        theta, Q = self.spectrum
        last = self.norm * float(Q[-1] @ (Q[0] / (1.0 + way * s * theta)))
        return s**3 * self.beta[-1] * abs(last) * float(np.abs(self.root * self.V[-1]).max())


class KrylovWalker(RationalWalker):
    """The same walk, with a Krylov space for each move."""

    chol: Factor | None = None  # of this place, and its free variables
    columns: Floats  # of G, for the same variables
    stale = True  # whether they are to be made
    turns: Form | None = None  # the form of what moves of each variable, z or h
    poles = FIRST  # that the last move needed
    arrival: Move | None = None  # the direction with which the walk has come here
    known: tuple[float, Floats, Floats, Floats] | None = None  # t, z, h and size of this place
    sized = np.nan  # the t at which size was computed

    # ------------------------------------------------------------------ the factor

    def factor(self) -> None:
        """Only when it is asked for: at a corner the next stairs are known first."""
        self.stale = True

    def made_factor(self) -> Factor | None:
        """The factor of this place, or None where the reference's is needed."""
        if self.stale:
            self.stale = False
            rows = int(np.count_nonzero(self.system.coupling.has_row[self.free]))
            self.chol = None
            if rows and np.all(self.curved.soft[self.free[:rows]] > 0):
                self.columns = self.curved.coupling.block(self.free, self.rows).T  # G[:, F]
                A = self.columns[self.free]
                A[np.diag_indices(len(A))] += self.t * self.curved.soft[self.free]
                chol = Factor(A, rows)
                self.chol = chol if chol.regular else None
            if self.chol is None:
                super().factor()
        return self.chol

    def product(self, z: Floats) -> tuple[Floats, Floats]:
        """Only columns of free variables count, and they are at hand."""
        if self.stale or self.chol is None or np.any(z[~self.tread]):
            return super().product(z)
        ridge = self.t * self.curved.soft * z
        size = np.abs(self.columns) @ np.abs(z[self.free]) + np.abs(ridge)
        return self.sigma * (self.columns @ z[self.free]) + ridge, size

    def solve(self, b: Floats) -> Floats:
        chol = self.made_factor()
        return super().solve(b) if chol is None else chol.solve(b)

    def on_singular(self, k: int, side: int) -> Floats | None:
        """With ramps G_FF + t D is regular as long as a row holds each variable of the border."""
        after = self.tread.copy()
        after[k] = not after[k]
        has_row = self.system.coupling.has_row
        rows, border = np.flatnonzero(after & has_row), np.count_nonzero(after & ~has_row)
        if np.all(self.curved.soft[rows] > 0) and (border == 0 or (border == 1 and len(rows) > 0)):
            return None
        self.stale, self.chol = False, None
        super().factor()
        return super().on_singular(k, side)

    # ------------------------------------------------------------------ how far

    def first_crossing(self, move: Move, soft: Floats, reach: float) -> float:
        chol = self.made_factor()
        if chol is None:
            return self.by_all_poles(move, soft, reach)
        root = np.sqrt(soft)
        space = Space(chol, root, root * move.z[self.free])
        allowed = UNSOLVED * float(self.tolerance[self.free[soft > 0]].min())
        acted = np.zeros((len(self.rows), 0))
        poles = self.poles
        while True:
            space.grow(poles)
            if not np.all(np.isfinite(space.alpha)):  # the border hardly holds, and y is no number
                return self.by_all_poles(move, soft, reach)
            acted = np.hstack([acted, self._act(space.W[acted.shape[1] :])])
            near, C = space.form(move.t, 1.0 / abs(self.t))
            bends = acted @ C
            gaps = self.open_gaps(move, bends, near, reach)
            step, self.blocking = self.search(gaps, move, bends, near, reach)
            length = min(step, reach)
            # Residuals are measured by t: on the way down tolerances shrink with it.
            shrunk = min(1.0, abs(1.0 + move.t * length / self.t))
            if space.leaves(length, move.t) <= allowed * shrunk:
                break
            if poles < MOST:
                poles += MORE
            else:
                reach = 0.5 * length  # no event there: the move ends all the same
        self.poles = max(FIRST, min(poles, len(space.W)) - 1)
        self.form = Form(near, np.ascontiguousarray(self._columns(space.W) @ C))
        self.turns = Form(near, bends)
        change = length * move.z[self.free] + self.form.off(length)
        left = np.abs(self._unsolved(move, change, move.t * length))
        if np.all(left <= REALLY * shrunk * self.tolerance[self.free]):
            return min(step, reach)
        return self.by_all_poles(move, soft, reach)

    def by_all_poles(self, move: Move, soft: Floats, reach: float) -> float:
        """As the reference does it."""
        self.turns = None
        RationalWalker.factor(self)
        return super().by_all_poles(move, soft, reach)

    def _unsolved(self, move: Move, change: Floats, d: float) -> Floats:
        """What is left of the equations of free variables, changed so, at t + d.

        A z = b holds where the move began, but for drift; b changes by d (A y + D z).
        """
        assert self.chol is not None
        b = (self.sigma * self.drift)[self.free] - d * self.curved.soft[self.free] * change
        return np.asarray(b + self.chol.A @ (abs(d) * move.z[self.free] - change))

    def _act(self, W: list[Floats]) -> Floats:
        """What columns of free variables move: their z, or the residuals of the others."""
        free = self._columns(W)
        out = -self.sigma[:, None] * (self.columns @ free)
        out[self.free] = free
        return out

    def _columns(self, W: list[Floats]) -> Floats:
        return np.array(W).reshape(len(W), len(self.free)).T

    # ------------------------------------------------------------------ the next place

    def advance(self, move: Move, step: float, t: float) -> None:
        form, turns, tread = self.form, self.turns, self.tread.copy()
        blocked = bool(self.blocking.any())
        self.arrival = None
        super().advance(move, step, t)
        if form is None or turns is None or not blocked:  # or the next move begins anew
            return
        bent = turns.rate(step)
        z, h = move.z + np.where(tread, bent, 0.0), move.h + np.where(tread, 0.0, bent)
        self.arrival = Move(z, h, move.t, move.closing + np.array([-bent, bent]))

    def move(self, way: float) -> Move:
        """Before the first corner is passed the direction is known."""
        return super().move(way) if self.arrival is None else self.arrival

    def pass_corner(self, k: int, side: int) -> None:
        self.arrival = None
        super().pass_corner(k, side)

    def left_over(self, move: Move, z: Floats, t: float, held: Mask) -> Floats:
        """By the factor of the place that the move began at: it is near, and little is off."""
        chol, free, d = self.chol, self.free, t - self.t
        if chol is None or self.stale or abs(d) > NEARBY * abs(self.t):
            return super().left_over(move, z, t, held)
        ridge, b = d * self.curved.soft[free], self._unsolved(move, z[free] - self.z[free], d)
        off = np.zeros(len(free))
        columns = np.array([chol.once(e) for e in np.eye(len(free))[held]]).T
        for _ in range(MENDS):
            x = chol.once(np.where(held, 0.0, b - chol.A @ off - ridge * off))
            if held.any():  # all that is free may be held: then the intercept makes it singular
                x -= columns @ np.linalg.lstsq(columns[held], x[held], rcond=None)[0]
            off = off + x
        return np.where(held, 0.0, off)

    def measured(self) -> tuple[Floats, Floats]:
        """Only the products that are not known; sizes change slowly."""
        if self.known is None or self.known[0] != self.t or np.any(self.known[1] != self.z):
            size = None if self.known is None else self.known[3]
            if size is None or not abs(self.t - self.sized) <= NEARBY * abs(self.t):
                h, size = super().measured()
                self.sized = self.t
            else:
                h = self.system.residual(self.z, self.t)
            self.known = self.t, self.z.copy(), h, size
        return self.known[2].copy(), self.known[3]
