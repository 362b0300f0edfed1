import { spawn } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../local/cli/ports.ts';
import { TEMPLATES } from '../../local/create/templates.ts';
import { type Check, exec, require } from './checks.ts';
import { manifest, newProject, packWorkspace, ROOT } from './pack.ts';
import { NODE_22 } from './runtimes.ts';

const ARCHIVE_KB_MAX = 60;
const LINKED = ['@solana', '@types', '@x402', 'express', 'hono', 'undici-types'];
/** Templates with packages that the repository has. The nightly run builds the other one. */
const COMPILED = ['api-per-request', 'express', 'agent-that-buys'];
/** Files that the package rewrites. */
const REWRITTEN = ['README.md', 'package.json', '.gitignore'];

interface Starters {
  archive: string;
  /** Project with the packed SDK, below which the starters are made, so that all share its packages. */
  base: string;
  run(...args: string[]): Promise<string>;
}

/** Packs `create-paylatch`, makes a project of every template with it, and compiles them with the packed SDK. */
export function starterChecks(home: string, sdkArchive: string): Check[] {
  let opening: Promise<Starters> | undefined;
  const open = () => (opening ??= openStarters(home, sdkArchive));
  const group = 'starters';
  return [
    { group, name: 'archive', run: async () => checkArchive(await open()) },
    { group, name: 'refusals', run: async () => checkRefusals(await open()) },
    ...Object.keys(TEMPLATES).map((template) => ({ group, name: template, run: async () => checkTemplate(await open(), template) })),
  ];
}

async function openStarters(home: string, sdkArchive: string): Promise<Starters> {
  const archive = await packWorkspace('local/create', join(home, 'packed-create'));
  const installed = newProject(join(home, 'create'), archive);
  const base = newProject(join(home, 'starters'), sdkArchive, LINKED);
  const bin = join(installed, 'node_modules/.bin/create-paylatch');
  return { archive, base, run: (...args) => exec(NODE_22, [bin, ...args], { cwd: base }) };
}

function checkArchive({ archive, base }: Starters): string {
  const kilobytes = statSync(archive).size / 1000;
  require(kilobytes <= ARCHIVE_KB_MAX, `${kilobytes.toFixed(1)} KB of at most ${ARCHIVE_KB_MAX}`);
  const installed = join(base, '../create/node_modules/create-paylatch');
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  require(dependencies === undefined, 'the package has dependencies');
  const foreign = [...readFileSync(join(installed, 'dist/main.js'), 'utf8').matchAll(/from\s*"([^"]+)"/g)].map(([, from]) => from!);
  require(foreign.every((from) => from.startsWith('node:')), `it imports ${foreign.join(', ')}`);
  return `${kilobytes.toFixed(1)} KB of at most ${ARCHIVE_KB_MAX}`;
}

async function checkRefusals({ base, run }: Starters): Promise<string> {
  const full = join(base, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'a-file'), 'mine');
  for (const [args, expected] of [
    [['full', '--template', 'express'], /full is not empty\. Name another folder\.$/m],
    [['full/a-file', '--template', 'express'], /full\/a-file cannot be used \(ENOTDIR\)/],
    [['shop', '--template', 'django'], /No template is named "django"\./],
    [['shop'], /Name a folder and a template\./],
    [['shop', '--colour'], /--colour/],
  ] as const) {
    const output = await run(...args).then(
      (text) => `it ended well: ${text}`,
      (error: Error) => error.message,
    );
    require(/ended with 1\n/.test(output) && expected.test(output) && !/\n {4}at /.test(output), `${args.join(' ')}: ${output}`);
  }
  require(readdirSync(full).join() === 'a-file', 'a refused folder has new files');
  const help = await run('--help');
  require(Object.keys(TEMPLATES).every((name) => help.includes(name)), `--help lacks a template: ${help}`);
  return 'each named';
}

async function checkTemplate({ base, run }: Starters, template: string): Promise<string> {
  const folder = join(base, `my-${template}`);
  const output = await run(`my-${template}`, '--template', template);
  require(output.includes(`  cd my-${template}\n  npm install\n`), `the next commands are missing: ${output}`);
  const { name, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  require(name === `my-${template}` && dependencies[manifest.name] === manifest.version, `${name} has ${JSON.stringify(dependencies)}`);
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  require(!readme.includes('](../') && !readme.includes('npm run example'), 'its README leads into the repository');
  const files = globSync(['**/*', '.*'], { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const changed = files.filter((file) => !REWRITTEN.includes(file) && read(folder, file) !== read(join(ROOT, 'examples', template), file));
  require(changed.length === 0 && files.includes('.gitignore'), `not of the example: ${changed.join(', ')}`);
  if (!COMPILED.includes(template)) return `${files.length} files`;
  await exec(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  if (template === 'express') await checkServer(folder);
  return `${files.length} files, compile with the packed SDK`;
}

/** Starts the server of a project, which answers its free route without the service. */
async function checkServer(folder: string): Promise<void> {
  const PORT = String(await freePort(0, 'PORT'));
  const env = { ...process.env, SVC_BASE_URL: 'http://127.0.0.1:9', SVC_API_KEY: 'svc_test_x', SVC_PRODUCT: 'x', PORT };
  const server = spawn(process.execPath, ['--no-warnings', 'server.ts'], { cwd: folder, env, stdio: 'ignore' });
  try {
    for (let tries = 0; ; tries++) {
      const answer = await fetch(`http://127.0.0.1:${PORT}/`).catch(() => null);
      require(tries < 200 && (answer === null || answer.ok), `the server does not answer: ${answer?.status}`);
      if (answer) return;
      await sleep(50);
    }
  } finally {
    server.kill();
  }
}

const read = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8');
