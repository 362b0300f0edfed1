import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archiveChecks } from './archive.ts';
import { printTable, runChecks } from './checks.ts';
import { compilerChecks } from './compilers.ts';
import { generatorChecks } from './generators.ts';
import { packSdk } from './pack.ts';
import { runtimeChecks } from './runtimes.ts';
import { sandboxChecks } from './sandbox.ts';
import { starterChecks } from './starters.ts';

// Checks the archives that `npm publish` would upload: npm run sdk:check
const home = mkdtempSync(join(tmpdir(), 'svc-sdk-check-'));
const start = performance.now();
try {
  const archive = packSdk(home);
  console.log(`packed ${archive} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  const { checks: onRuntimes, end } = await runtimeChecks(home, archive);
  const sandbox = sandboxChecks(home);
  const results = await runChecks([
    ...archiveChecks(home, archive),
    ...compilerChecks(home, archive),
    ...onRuntimes,
    ...generatorChecks(home),
    ...starterChecks(home, archive),
    ...sandbox.checks,
  ]).finally(() => {
    end();
    sandbox.end();
  });
  printTable(results);
  const failed = results.filter(({ isPassed }) => !isPassed).length;
  console.log(`\n${results.length - failed} checks passed, ${failed} failed, ${((performance.now() - start) / 1000).toFixed(0)} s`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}
