import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** What axe-core finds wrong with the page as it stands: rule, and where. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

export async function violationsOf(page: Page): Promise<string[]> {
  const isThere = await page.evaluate('typeof axe === "object"');
  // Through the debugger, past the page's policy, which would rightly refuse a stranger's script.
  if (!isThere) await page.evaluate(SOURCE);
  const found = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then((result) => result.violations)',
  )) as Finding[];
  return found.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`));
}
