"use strict";
// The prediction of a model at the inputs of its sliders: what pengp's predict and
// predict_interval say, computed from the model's numbers. Contours follow the sliders.
(() => {
  const report = window.pengpReport;
  const SHARED = 8;
  const FAINT = 0.15;

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

  // Levels are the same or not; other inputs differ by a distance.
  function correlation(kernel, theta, x, z, levels) {
    let sum = 0;
    let whole = 1;
    for (let p = 0; p < x.length; p += 1) {
      const away = levels[p] ? Number(x[p] !== z[p]) : x[p] - z[p];
      const t = theta[p] * away * away;
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
  function condition(m, j, theta, nugget, sigma2) {
    const X = m.rows;
    const [kernel, mean, prior] = [m.kernel[j], m.mean[j], m.variance[j]];
    const F = X.map((x) => basis(mean, x));
    const ridge = X.map((_, i) => nugget + (m.noises ? m.noises[i] / sigma2 : 0));
    const R = X.map((x, i) => X.map((z, k) => correlation(kernel, theta, x, z, m.levels)
      + (i === k ? ridge[i] : 0) + (prior === null ? 0 : prior * dot(F[i], F[k]))));
    const L = cholesky(R);
    const half = forward(L, m.y);
    const free = prior === null ? F[0].length : 0;
    const W = Array.from({ length: free }, (_, c) => forward(L, F.map((row) => row[c])));
    const G = cholesky(W.map((a) => W.map((b) => dot(a, b))));
    const right = forward(G, W.map((w) => dot(w, half)));
    return { theta, nugget, sigma2, kernel, mean, prior, F, L, half, W, G, right };
  }

  // Location and squared scale at x, in the unit cube.
  function predict(c, X, levels, x) {
    const f = basis(c.mean, x);
    const r = X.map((z, i) => correlation(c.kernel, c.theta, x, z, levels)
      + (c.prior === null ? 0 : c.prior * dot(f, c.F[i])));
    const v = forward(c.L, r);
    const prior = 1 + (c.prior === null ? 0 : c.prior * dot(f, f));
    let location = dot(v, c.half);
    let scaled = c.nugget + Math.max(prior - dot(v, v), 0);
    if (c.W.length) {
      const u = forward(c.G, c.W.map((w, k) => f[k] - dot(w, v)));
      location += dot(u, c.right);
      scaled += dot(u, u);
    }
    return [location, c.sigma2 * scaled];
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

  // The same for a normal (Marsaglia 2004), to which a null df stands.
  function normalBelow(z) {
    if (Math.abs(z) > 8) return z > 0 ? 1 : 0;
    let [term, total] = [z, z];
    for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(total); k += 2) {
      term *= (z * z) / k;
      total += term;
    }
    return 0.5 + (total * Math.exp(-0.5 * z * z)) / Math.sqrt(2 * Math.PI);
  }

  function mixtureQuantile(parts, weights, df, level, halvings) {
    const share = df === null ? normalBelow : (z) => studentBelow(z, df);
    const below = (y) => parts.reduce((sum, [location, square], j) =>
      sum + weights[j] * share((y - location) / Math.sqrt(square)), 0);
    const spread = Math.max(...parts.map(([, square]) => Math.sqrt(square)));
    let low = Math.min(...parts.map(([location]) => location)) - spread;
    let high = Math.max(...parts.map(([location]) => location)) + spread;
    while (below(low) > level) low -= high - low;
    while (below(high) < level) high += high - low;
    for (let k = 0; k < halvings; k += 1) {
      const middle = 0.5 * (low + high);
      if (below(middle) < level) low = middle;
      else high = middle;
    }
    return 0.5 * (low + high);
  }

  // Box and Cox's function of 1 + x, and what undoes it.
  const power = (x, p) => (p === 0 ? Math.log1p(x) : Math.expm1(p * Math.log1p(x)) / p);
  const root = (z, p) => (p === 0 ? Math.expm1(z) : Math.expm1(Math.log1p(Math.max(p * z, -1)) / p));

  // Transforms and what undoes them, with their settings.
  const scales = { none: [(x) => x, (z) => z], log: [Math.log, Math.exp],
    log10: [Math.log10, (z) => 10 ** z], sqrt: [Math.sqrt, (z) => Math.max(z, 0) ** 2],
    logit: [(x, { low, high }) => Math.log(x - low) - Math.log(high - x),
      (z, { low, high }) => low + (high - low) / (1 + Math.exp(-z))],
    boxcox: [(x, { power: p }) => power(x - 1, p), (z, { power: p }) => 1 + root(z, p)],
    yeojohnson: [(x, { power: p }) => (x < 0 ? -power(-x, 2 - p) : power(x, p)),
      (z, { power: p }) => (z < 0 ? -root(-z, 2 - p) : root(z, p))] };

  // Half a whole number goes to the even one, as in pengp.
  function rounded(x) {
    const below = Math.floor(x);
    if (x - below === 0.5) return below % 2 === 0 ? below : below + 1;
    return Math.round(x);
  }

  // Inputs in their own units, in the unit cube.
  function toUnit(m, inputs) {
    return inputs.map((x, p) => {
      if (m.constant[p]) return 0;
      const { scale, whole, values } = m.scales[p];
      const z = values ? values.indexOf(x) : scales[scale][0](whole ? rounded(x) : x, m.scales[p]);
      return (z - m.lows[p]) / m.widths[p];
    });
  }

  function prepare(m) {
    const [n, d] = m.X.shape;
    const values = doubles(m.X);
    m.noises = m.noise && doubles(m.noise);
    m.lows = doubles(m.lower);
    m.widths = doubles(m.width);
    m.weights = doubles(m.weight);
    m.levels = m.scales.map(({ values: known }) => Boolean(known));
    m.rows = Array.from({ length: n }, (_, i) => values.subarray(i * d, (i + 1) * d));
    m.y = doubles(m.y);
    m.standard = m.nodes && m.nodes.map(doubles);
    m.conditioned = conditioned(m, m.theta, m.nugget, m.sigma2);
  }

  function conditioned(m, theta, nugget, sigma2) {
    const d = m.X.shape[1];
    const [thetas, nuggets, sigmas] = [theta, nugget, sigma2].map(doubles);
    return Array.from(nuggets, (g, j) =>
      condition(m, j % m.kernel.length, thetas.subarray(j * d, (j + 1) * d), g, sigmas[j]));
  }

  const back = (m, v) => scales[m.response.scale][1](m.origin + m.unit * v, m.response);

  // Mean in the unit of the response: exp(z) of a normal z has a closed one, others go by nodes.
  function meanOf(m, parts) {
    const total = (value) => parts.reduce((sum, part, j) => sum + m.weights[j] * value(...part), 0);
    const { scale } = m.response;
    if (scale === "none") return back(m, total((location) => location));
    if (m.df === null && (scale === "log" || scale === "log10")) {
      const rate = m.unit * (scale === "log" ? 1 : Math.LN10);
      return total((location, square) => back(m, location + 0.5 * rate * square));
    }
    const [nodes, weights] = m.standard;
    return total((location, square) => {
      const s = Math.sqrt(square);
      return nodes.reduce((sum, x, k) => sum + weights[k] * back(m, location + s * x), 0);
    });
  }

  // Mean and ends of the interval at inputs in their own units.
  function answer(m, processes, inputs, halvings) {
    const x = toUnit(m, inputs);
    const parts = processes.map((c) => predict(c, m.rows, m.levels, x));
    let ends;
    if (m.df === null && parts.length === 1) {
      const reach = m.z * Math.sqrt(parts[0][1]);
      ends = [parts[0][0] - reach, parts[0][0] + reach];
    } else {
      ends = [0.5 - 0.5 * m.level, 0.5 + 0.5 * m.level]
        .map((level) => mixtureQuantile(parts, m.weights, m.df, level, halvings));
    }
    return [meanOf(m, parts), ...ends.map((v) => back(m, v))];
  }

  // How much a run's other inputs differ from those that are held, as pengp draws it.
  function opacity(m, processes, at, free) {
    return m.rows.map((row) => {
      const place = at.map((v, p) => (free.includes(p) ? row[p] : v));
      const known = processes.reduce((sum, c, j) =>
        sum + m.weights[j] * correlation(c.kernel, c.theta, row, place, m.levels) ** 2, 0);
      return Math.max(known, FAINT);
    });
  }

  // Contours of the selected pair at the sliders' inputs and lambda, a row at a time, so that the
  // page stays awake; a later call ends an earlier one.
  function contourDrawer(m, inputs) {
    const { key, pairs, lam, figures: ids, chosen, along } = m.contours;
    let latest = 0;
    function processesNow() {
      if (lam === null || report.state[lam] === chosen) return m.conditioned;
      const at = report.state[lam];
      m.at ??= conditioned(m, along.theta, along.nugget, along.sigma2);
      return [m.at[at]];
    }
    return () => {
      const mine = latest += 1;
      const [a, b] = pairs[report.state[key]];
      const held = Array.from(inputs);
      const [x, y] = ["x", "y"].map((name) => report.pick(`${key}.${name}`, [key]));
      const processes = processesNow();
      const z = { mean: [], width: [] };
      const dots = opacity(m, processes, toUnit(m, held), [a, b]);
      report.begin();
      (function rows() {
        if (mine !== latest) {
          report.end();
          return;
        }
        const until = performance.now() + 25;
        while (z.mean.length < y.length && performance.now() < until) {
          const found = x.map((v) => answer(m, processes,
            held.map((w, p) => (p === a ? v : p === b ? y[z.mean.length] : w)), 14));
          z.width.push(found.map(([, low, high]) => high - low));
          z.mean.push(found.map(([mean]) => mean));
        }
        if (z.mean.length < y.length) {
          setTimeout(rows, 0);
          return;
        }
        Object.entries(ids).forEach(([what, id]) => {
          report.show(id, { "data.0.z": z[what], "data.1.marker.opacity": dots });
        });
        report.end();
      })();
    };
  }

  const written = (value) => String(Number(value.toPrecision(4)));

  function start(id, m) {
    const section = document.getElementById(id);
    const part = (role) => section.querySelector(`[data-role=${role}]`);
    const [least, most] = m.runs.map(doubles);
    const sliders = m.inputs.map((p) => document.getElementById(`${id}-${p}`));
    const inputs = Array.from(doubles(m.held));
    const drawContours = m.contours ? contourDrawer(m, inputs) : () => {};
    let moved = false;
    function update() {
      if (!m.conditioned) prepare(m);
      sliders.forEach((slider, k) => {
        const p = m.inputs[k];
        const { scale, values } = m.scales[p];
        inputs[p] = values ? Number(slider.value)
          : scales[scale][1](Number(slider.value), m.scales[p]);
        const shown = document.getElementById(`${slider.id}-shown`);
        if (shown) shown.textContent = written(inputs[p]);
      });
      const found = answer(m, m.conditioned, inputs, 70);
      ["mean", "lower", "upper"].forEach((role, k) => {
        part(role).textContent = written(found[k]);
        part(role).dataset.value = String(found[k]);
      });
      const out = m.inputs.filter((p) => inputs[p] < least[p] || inputs[p] > most[p]);
      part("outside").hidden = out.length === 0;
      part("outside").textContent =
        `Outside the runs in ${out.map((p) => m.names[p]).join(", ")}: an extrapolation.`;
    }
    function follow() {
      moved = true;
      update();
      drawContours();
    }
    sliders.forEach((slider) => slider.addEventListener("input", follow));
    if (m.contours) {
      const { key, lam } = m.contours;
      report.listen((changed) => {
        if (changed === lam || (changed === key && moved)) follow();
      });
    }
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      update();
    }).observe(section);
  }

  Object.entries(report.models).forEach(([id, m]) => start(id, m));
})();
