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

/**
 * Returns axe-core findings in the current state and in the other colour scheme on the narrowest phone, and overflow at every size.
 * Restores the page.
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
  await page.setViewportSize(size);
  return found;
}

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
    if (document.documentElement.scrollWidth <= innerWidth) return null;
    const reaches = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5);
    return reaches.slice(0, 3).map((one) => one.tagName.toLowerCase() + (one.className ? '.' + one.className : ''));
  })()`);
  return wide ? [`${width}x${height}: wider than the screen: ${wide.join(', ')}`] : [];
}
