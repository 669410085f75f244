"use strict";
// The prediction of a model at the inputs of its sliders: what pengp's predict and
// predict_interval say, computed from the model's numbers.
(() => {
  const { models } = JSON.parse(document.getElementById("report-data").textContent);
  const SHARED = 8;

  function doubles({ f8 }) {
    return new Float64Array(Uint8Array.from(atob(f8), (c) => c.charCodeAt(0)).buffer);
  }

  const m52 = (a) => (1 + a + (a * a) / 3) * Math.exp(-a);
  const m32 = (a) => (1 + a) * Math.exp(-a);
  const radial = { sqexp: (s) => Math.exp(-s), matern52: (s) => m52(Math.sqrt(5 * s)),
    matern32: (s) => m32(Math.sqrt(3 * s)) };
  const product = { matern52_product: (t) => m52(Math.sqrt(5 * t)),
    matern32_product: (t) => m32(Math.sqrt(3 * t)),
    matern52_additive: (t) => (SHARED + m52(Math.sqrt(5 * t))) / (SHARED + 1) };

  function correlation(kernel, theta, x, z) {
    let sum = 0;
    let whole = 1;
    for (let p = 0; p < x.length; p += 1) {
      const t = theta[p] * (x[p] - z[p]) ** 2;
      if (kernel in product) whole *= product[kernel](t);
      else sum += t;
    }
    return kernel in product ? whole : radial[kernel](sum);
  }

  const basis = (mean, x) => ({ zero: [], constant: [1], linear: [1, ...x] })[mean];
  const dot = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);

  // Rows of the lower factor of a symmetric matrix given by its rows.
  function cholesky(A) {
    const L = A.map((row) => Float64Array.from(row));
    for (let i = 0; i < L.length; i += 1) {
      for (let j = 0; j <= i; j += 1) {
        let sum = L[i][j];
        for (let k = 0; k < j; k += 1) sum -= L[i][k] * L[j][k];
        L[i][j] = i === j ? Math.sqrt(sum) : sum / L[j][j];
      }
    }
    return L;
  }

  function forward(L, b) {
    const v = new Float64Array(b.length);
    for (let i = 0; i < b.length; i += 1) {
      let sum = b[i];
      for (let k = 0; k < i; k += 1) sum -= L[i][k] * v[k];
      v[i] = sum / L[i][i];
    }
    return v;
  }

  // A process given the runs. A trend with a prior is part of the correlations; one without is
  // estimated, as in universal kriging.
  function condition(m, j, X, y) {
    const [n, d] = m.X.shape;
    const theta = m.thetas.subarray(j * d, (j + 1) * d);
    const [kernel, mean, prior] = [m.kernel[j], m.mean[j], m.variance[j]];
    const F = X.map((x) => basis(mean, x));
    const R = X.map((x, i) => X.map((z, k) => correlation(kernel, theta, x, z)
      + (i === k ? m.nuggets[j] : 0) + (prior === null ? 0 : prior * dot(F[i], F[k]))));
    const L = cholesky(R);
    const half = forward(L, y);
    const free = prior === null ? F[0].length : 0;
    const W = Array.from({ length: free }, (_, c) => forward(L, F.map((row) => row[c])));
    const G = cholesky(W.map((a) => W.map((b) => dot(a, b))));
    const right = forward(G, W.map((w) => dot(w, half)));
    return { theta, kernel, mean, prior, F, L, half, W, G, right, n };
  }

  // Location and squared scale at x, in the unit cube.
  function predict(c, sigma2, nugget, X, x) {
    const f = basis(c.mean, x);
    const r = X.map((z, i) => correlation(c.kernel, c.theta, x, z)
      + (c.prior === null ? 0 : c.prior * dot(f, c.F[i])));
    const v = forward(c.L, r);
    const prior = 1 + (c.prior === null ? 0 : c.prior * dot(f, f));
    let location = dot(v, c.half);
    let scaled = nugget + Math.max(prior - dot(v, v), 0);
    if (c.W.length) {
      const u = forward(c.G, c.W.map((w, k) => f[k] - dot(w, v)));
      location += dot(u, c.right);
      scaled += dot(u, u);
    }
    return [location, sigma2 * scaled];
  }

  // Student's t: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
  function studentBelow(z, df) {
    const root = Math.sqrt(df + z * z);
    const c = df / (root * root);
    let total = 1;
    for (let k = df - 2; k > 1; k -= 2) total = total * c * ((k - 1) / k) + 1;
    total *= z / root;
    if (df % 2) {
      total = (2 / Math.PI) * ((df > 1 ? total * Math.sqrt(c) : 0) + Math.atan(z / Math.sqrt(df)));
    }
    return Math.min(Math.max(0.5 + 0.5 * total, 0), 1);
  }

  function mixtureQuantile(parts, weights, df, level) {
    const below = (y) => parts.reduce((sum, [location, square], j) =>
      sum + weights[j] * studentBelow((y - location) / Math.sqrt(square), df), 0);
    const spread = Math.max(...parts.map(([, square]) => Math.sqrt(square)));
    let low = Math.min(...parts.map(([location]) => location)) - spread;
    let high = Math.max(...parts.map(([location]) => location)) + spread;
    while (below(low) > level) low -= high - low;
    while (below(high) < level) high += high - low;
    for (let k = 0; k < 70; k += 1) {
      const middle = 0.5 * (low + high);
      if (below(middle) < level) low = middle;
      else high = middle;
    }
    return 0.5 * (low + high);
  }

  function prepare(m) {
    const [n, d] = m.X.shape;
    const values = doubles(m.X);
    m.thetas = doubles(m.theta);
    m.nuggets = doubles(m.nugget);
    m.sigmas = doubles(m.sigma2);
    m.weights = doubles(m.weight);
    m.lows = doubles(m.lower);
    m.widths = doubles(m.width);
    m.rows = Array.from({ length: n }, (_, i) => values.subarray(i * d, (i + 1) * d));
    const y = doubles(m.y);
    m.conditioned = m.kernel.map((_, j) => condition(m, j, m.rows, y));
  }

  // Mean and ends of the interval at inputs in their own units.
  function answer(m, inputs) {
    const x = inputs.map((v, p) => (m.constant[p] ? 0 : (v - m.lows[p]) / m.widths[p]));
    const parts = m.conditioned.map((c, j) => predict(c, m.sigmas[j], m.nuggets[j], m.rows, x));
    const mean = parts.reduce((sum, [location], j) => sum + m.weights[j] * location, 0);
    let ends;
    if (m.df === null) {
      const reach = m.z * Math.sqrt(parts[0][1]);
      ends = [mean - reach, mean + reach];
    } else {
      ends = [0.5 - 0.5 * m.level, 0.5 + 0.5 * m.level]
        .map((level) => mixtureQuantile(parts, m.weights, m.df, level));
    }
    return [mean, ...ends].map((v) => m.origin + m.unit * v);
  }

  const written = (value) => String(Number(value.toPrecision(4)));

  function start(id, m) {
    const section = document.getElementById(id);
    const part = (role) => section.querySelector(`[data-role=${role}]`);
    const [least, most] = m.runs.map(doubles);
    const sliders = m.inputs.map((p) => document.getElementById(`${id}-${p}`));
    const inputs = Array.from(least);
    function update() {
      if (!m.conditioned) prepare(m);
      sliders.forEach((slider, k) => {
        inputs[m.inputs[k]] = Number(slider.value);
        document.getElementById(`${slider.id}-shown`).textContent = written(Number(slider.value));
      });
      const found = answer(m, inputs);
      ["mean", "lower", "upper"].forEach((role, k) => {
        part(role).textContent = written(found[k]);
        part(role).dataset.value = String(found[k]);
      });
      const out = m.inputs.filter((p) => inputs[p] < least[p] || inputs[p] > most[p]);
      part("outside").hidden = out.length === 0;
      part("outside").textContent =
        `Outside the runs in ${out.map((p) => m.names[p]).join(", ")}: an extrapolation.`;
    }
    sliders.forEach((slider) => slider.addEventListener("input", update));
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      update();
    }).observe(section);
  }

  Object.entries(models).forEach(([id, m]) => start(id, m));
})();
