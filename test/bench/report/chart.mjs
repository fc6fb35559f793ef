import { init } from 'echarts';

import { titleOf } from '../contenders/index.mjs';
import { digits } from './format.mjs';

const WIDTH = 640;
const HEIGHT = 360;

// One colour for each contender in every plot, apart for the colour-blind, too (Okabe and Ito).
const COLOURS = {
  bucketlock: '#d55e00',
  c: '#000000',
  'fs-native-extensions': '#0072b2',
  'proper-lockfile': '#009e73',
  lockfile: '#cc79a7',
  'cross-process-lock': '#e69f00',
};
const OWN = 'bucketlock';

/** The SVG text of an echarts option, drawn without a browser. */
export function render(option) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
  try {
    chart.setOption({ animation: false, backgroundColor: '#ffffff', ...option });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

const title = (text, subtext) => ({
  text,
  subtext,
  left: 'center',
  top: 8,
  textStyle: { fontSize: 15 },
});

/** Horizontal bars on a logarithmic axis: pairs of a contender and a value. */
export function bars({ text, subtext, unit, pairs }) {
  const shown = [...pairs].reverse();
  const least = Math.min(...shown.map(([, value]) => (value > 0 ? value : Infinity)));
  // A bar has to begin somewhere: well below the least, at a power of ten. Zero has no place.
  const min = Number.isFinite(least) ? 10 ** (Math.ceil(Math.log10(least)) - 2) : 1;
  return {
    title: title(text, subtext),
    grid: { left: 150, right: 80, top: 64, bottom: 48 },
    xAxis: { type: 'log', name: unit, nameLocation: 'middle', nameGap: 28, min },
    yAxis: { type: 'category', data: shown.map(([name]) => titleOf(name)) },
    series: [
      {
        type: 'bar',
        barCategoryGap: '40%',
        data: shown.map(([name, value]) => ({
          value: Math.max(value, min),
          itemStyle: { color: COLOURS[name] },
          label: { show: true, position: 'right', formatter: digits(value) },
        })),
      },
    ],
  };
}

/** Lines over a logarithmic axis: of each contender its points. */
export function lines({ text, subtext, x, y, points, xType = 'log' }) {
  return {
    title: title(text, subtext),
    legend: { bottom: 6, itemWidth: 16, itemGap: 18, textStyle: { fontSize: 10 } },
    grid: { left: 76, right: 24, top: 64, bottom: 84 },
    xAxis: { type: xType, ...axis(x, 28) },
    yAxis: { type: 'log', ...axis(y, 56) },
    series: Object.entries(points).map(([name, data]) => ({
      type: 'line',
      name: titleOf(name),
      data,
      symbolSize: xType === 'value' ? 0 : 7,
      // Our own above the others.
      z: name === OWN ? 3 : 2,
      lineStyle: { width: name === OWN ? 3 : 2 },
      itemStyle: { color: COLOURS[name] },
    })),
  };
}

function axis({ name, min, max, ticks }, nameGap) {
  return {
    name,
    nameLocation: 'middle',
    nameGap,
    min,
    max,
    ...(ticks && { axisLabel: { customValues: ticks }, axisTick: { customValues: ticks } }),
  };
}
