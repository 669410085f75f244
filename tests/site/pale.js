// Texts whose contrast with what lies behind them is below that of WCAG 2.1, level AA.
() => {
  const parse = c => { const n = c.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = c => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const v = c[i] / 255;
    return sum + weight * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = node => {
    const layers = [];
    for (let e = node; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    return layers.reduceRight((ground, layer) => over(layer, ground), [255, 255, 255, 1]);
  };
  const pale = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement, style = getComputedStyle(node);
    const shown = node.checkVisibility({opacityProperty: true, visibilityProperty: true});
    if (!walker.currentNode.data.trim() || !shown || node.closest("script, style, noscript")) continue;
    const ground = behind(node), text = over(parse(style.color), ground);
    const [high, low] = [light(text), light(ground)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const least = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5;
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < least) pale.add(`${ratio.toFixed(2)} ${node.tagName}.${node.className}: ` +
      walker.currentNode.data.trim().slice(0, 40));
  }
  return [...pale];
}
