import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { type Check, exec, require } from './checks.ts';
import { entries, newProject, ROOT } from './pack.ts';
import { startMockApi } from './run/mock-api.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const NODE_22 = join(ROOT, 'test/package/node_modules/.bin/node');
const NODE_24 = join(ROOT, 'node_modules/node/bin/node');
const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);
const DENO = ['run', '--no-config', '--node-modules-dir=manual', '--allow-net', '--allow-env', '--allow-read', '--allow-sys'];

const PROGRAMS = [
  { name: 'Node 22', program: NODE_22, args: ['main.mjs'], expected: /^Node\.js\/22$/ },
  { name: 'Node 22, require()', program: NODE_22, args: ['main.cjs'], expected: /^Node\.js\/22$/ },
  { name: 'Node 24', program: NODE_24, args: ['main.mjs'], expected: /^Node\.js\/24$/ },
  { name: 'Node 24, require()', program: NODE_24, args: ['main.cjs'], expected: /^Node\.js\/24$/ },
  { name: 'Bun', program: bin('bun'), args: ['run', 'main.mjs'], expected: /^Bun\// },
  { name: 'Deno', program: bin('deno'), args: [...DENO, 'main.mjs'], expected: /^Deno\// },
];

/** Runs the same scenario with the installed archive on every runtime. A runtime that is missing fails. */
export async function runtimeChecks(home: string, archive: string): Promise<{ checks: Check[]; end: () => void }> {
  const project = newProject(join(home, 'runtimes'), archive);
  cpSync(join(ROOT, 'test/package/run'), project, { recursive: true });
  let page = '';
  const mockApi = await startMockApi(() => page);
  const group = 'runs';
  const checks: Check[] = PROGRAMS.map(({ name, program, args, expected }) => ({
    group,
    name,
    run: async () => {
      const output = await exec(program, [...args, mockApi.baseUrl, ...entries], { cwd: project, timeoutMs: 30_000 });
      require(expected.test(output), `another runtime or more output: ${output}`);
      return output;
    },
  }));
  return {
    checks: [
      ...checks,
      { group, name: 'workerd', run: () => runInWorkerd(project, mockApi.baseUrl) },
      {
        group,
        name: 'Chromium, another origin',
        run: async () => {
          page = await bundle(project, 'page.mjs');
          return runInChromium(mockApi.pageUrl);
        },
      },
    ],
    end: mockApi.end,
  };
}

async function bundle(project: string, entry: string): Promise<string> {
  const { outputFiles } = await build({ entryPoints: [join(project, entry)], bundle: true, format: 'esm', target: 'es2022', write: false });
  return outputFiles[0]!.text;
}

async function runInWorkerd(project: string, baseUrl: string): Promise<string> {
  writeFileSync(join(project, 'worker.js'), await bundle(project, 'worker.mjs'));
  writeFileSync(join(project, 'workerd.capnp'), workerdConfig(baseUrl));
  await exec(bin('workerd'), ['test', 'workerd.capnp'], { cwd: project, timeoutMs: 30_000 });
  return exec(bin('workerd'), ['--version']);
}

/** Configuration of a Worker that may call the mock API, as `workerd test` reads it. */
const workerdConfig = (baseUrl: string): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [
  (name = "internet", network = (allow = ["public", "private"])),
  (name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    compatibilityDate = "2026-08-01",
    bindings = [(name = "BASE_URL", text = "${baseUrl}")],
  )),
]);
`;

async function runInChromium(pageUrl: string): Promise<string> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(pageUrl);
    await page.waitForFunction("document.title !== ''", null, { timeout: 30_000 });
    const title = await page.title();
    require(title.startsWith('ok '), title);
    return title.slice(3);
  } finally {
    await browser.close();
  }
}
