import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}
interface Size {
  width: number;
  height: number;
}

/** Viewports: the narrowest phone, a phone, a phone held sideways, a laptop, and that laptop at 200 % zoom. */
const SIZES: Size[] = [
  { width: 320, height: 640 },
  { width: 390, height: 844 },
  { width: 844, height: 390 },
  { width: 1280, height: 800 },
  { width: 640, height: 400 },
];
const NARROW = SIZES[0]!;

/** Sheet of A4 between margins of 15 mm. */
const SHEET: Size = { width: 680, height: 960 };

/**
 * Returns axe-core findings in the current state and in the other colour scheme on the narrowest phone, overflow at every size and in print,
 * what forced colours hide, and what moves although motion is to be reduced. Restores the page.
 */
export async function findViolations(page: Page): Promise<string[]> {
  const size = page.viewportSize()!;
  const isDark = (await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")) as boolean;
  const found = await runAxe(page, 'as it stands');
  for (const other of SIZES) {
    await page.setViewportSize(other);
    found.push(...(await findOverflow(page, other)));
  }
  await page.setViewportSize(NARROW);
  await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' });
  found.push(...(await runAxe(page, `${isDark ? 'light' : 'dark'}, ${NARROW.width} px`)));
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
  await page.setViewportSize(SHEET);
  await page.emulateMedia({ media: 'print' });
  found.push(...(await findOverflow(page, SHEET)).map((finding) => `print: ${finding}`));
  await page.emulateMedia({ media: 'screen', forcedColors: 'active', reducedMotion: 'reduce' });
  await page.setViewportSize(size);
  found.push(...(await page.evaluate<string[]>(FIND_HIDDEN)), ...(await page.evaluate<string[]>(FIND_MOVING)));
  await page.emulateMedia({ media: null, forcedColors: 'none', reducedMotion: 'no-preference' });
  return found;
}

const NAME = "(one) => one.tagName.toLowerCase() + (one.getAttribute('class') ? '.' + one.getAttribute('class') : '')";

/** Controls without an edge or underline, and images that have the colour of the page alone, where the system replaces all colours. */
const FIND_HIDDEN = `(() => {
  const name = ${NAME};
  const isShown = (one) => one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && one.getBoundingClientRect().width > 1;
  const hasEdge = ({ borderTopStyle, borderTopWidth, borderBottomStyle, borderBottomWidth, appearance }) =>
    (borderTopStyle !== 'none' && borderTopWidth !== '0px') || (borderBottomStyle !== 'none' && borderBottomWidth !== '0px') || appearance === 'auto';
  const controls = [...document.querySelectorAll('button, a.button, input, select, textarea')].filter(isShown);
  const bare = controls.filter((one) => !hasEdge(getComputedStyle(one)) && !getComputedStyle(one).textDecorationLine.includes('underline'));
  const ground = getComputedStyle(document.body).backgroundColor;
  const isSunk = (shape) => {
    const { fill, stroke } = getComputedStyle(shape);
    return [fill, stroke].every((colour) => colour === 'none' || colour === ground);
  };
  const images = [...document.querySelectorAll('svg')].filter(isShown);
  const sunk = images.filter((image) => [...image.querySelectorAll('rect, path, circle')].every(isSunk));
  return [...bare.map((one) => 'forced colours: no edge at ' + name(one)), ...sunk.map((one) => 'forced colours: no colour at ' + name(one.parentElement))];
})()`;

const FIND_MOVING = `document.getAnimations().filter(({ playState }) => playState === 'running')
  .map(({ effect }) => 'reduced motion: moves at ' + (${NAME})(effect.target))`;

async function runAxe(page: Page, where: string): Promise<string[]> {
  const isThere = await page.evaluate('typeof axe === "object"');
  // Runs through the debugger, because the page's policy refuses foreign scripts.
  if (!isThere) await page.evaluate(SOURCE);
  const found = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then((result) => result.violations)',
  )) as Finding[];
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${where}: ${id} at ${target.join(' ')}: ${failureSummary}`),
  );
}

async function findOverflow(page: Page, { width, height }: Size): Promise<string[]> {
  const wide = await page.evaluate<string[] | null>(`(() => {
    if (document.documentElement.scrollWidth <= ${width}) return null;
    const reaches = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > ${width} + 0.5);
    return reaches.slice(0, 3).map((one) => one.tagName.toLowerCase() + (one.className ? '.' + one.className : ''));
  })()`);
  return wide ? [`${width}x${height}: wider than the screen: ${wide.join(', ')}`] : [];
}
