"""Fit the twelve piston-slap runs that ship with the package, and say what was found."""

from pengp import PenalizedGPRegressorCV
from pengp.datasets import load_piston_slap


def main() -> None:
    """Fit by cross-validation with DPE and the one-standard-error rule, and print the result."""
    runs = load_piston_slap()
    model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    loo = model.loo_
    n, d = runs.X.shape
    print(f"Piston slap: {n} runs, {d} inputs, {runs.response_name} in {runs.unit}")
    print(f"4-fold cross-validation of {len(model.lams_)} lambdas by DPE")
    print(f"  best lambda {model.lam_min_:.4g}, within one standard error {model.lam_1se_:.4g}")
    print(f"  fitted at lambda {model.lam_:.4g}")
    print()
    print(f"  {'input':<28}{'theta':>10}{'lengthscale':>14}")
    for name, theta, length in zip(runs.input_names, model.theta_, model.lengthscale_, strict=True):
        inactive = "   inactive" if theta <= 1e-3 else ""
        print(f"  {name:<28}{theta:>10.4g}{length:>14.4g}{inactive}")
    print()
    error = (loo.residual**2).mean() ** 0.5
    print(f"  leave-one-out RMSE {error:.3f} dB; response sd {runs.y.std(ddof=1):.3f} dB")
    print(f"  {int(model.modes_.count)} local maxima of the likelihood at this lambda")
    middle = runs.X.mean(0, keepdims=True)
    low, high = model.predict_interval(middle, level=0.95)
    mean = model.predict(middle)
    print(f"  in the middle of the inputs: {mean[0]:.2f} dB, 95 % in [{low[0]:.2f}, {high[0]:.2f}]")


if __name__ == "__main__":
    main()
