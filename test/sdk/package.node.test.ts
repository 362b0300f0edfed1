import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeService } from './service-double.ts';

const ROOT = join(import.meta.dirname, '../..');
const SDK = join(ROOT, 'sdk');
const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);

const examples = [...readFileSync(join(SDK, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!);

describe('installed SDK package', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-sdk-'));
  const installed = join(home, 'node_modules/@svc/sdk');
  const servers: Server[] = [];

  beforeAll(() => {
    // Builds a copy, so that the build of the working tree is neither needed nor changed.
    mkdirSync(installed, { recursive: true });
    for (const name of ['package.json', 'tsconfig.json', 'src']) cpSync(join(SDK, name), join(installed, name), { recursive: true });
    for (const name of ['hono', 'express', '@types']) symlinkSync(join(ROOT, 'node_modules', name), join(home, 'node_modules', name));
    execFileSync('npm', ['run', 'build'], {
      cwd: installed,
      env: { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}` },
    });
    rmSync(join(installed, 'src'), { recursive: true });
    writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  }, 60_000);
  afterAll(() => {
    for (const server of servers) server.close().closeAllConnections();
    rmSync(home, { recursive: true });
  });

  const load = (name: string) => import(/* @vite-ignore */ pathToFileURL(join(installed, `dist/${name}.js`)).href);
  const listen = (listener: RequestListener) =>
    new Promise<string>((resolve) => {
      const server = createServer(listener).listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      );
      servers.push(server);
    });

  it('the package has no runtime dependencies, and its exports exist', () => {
    const { dependencies, exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(dependencies).toBeUndefined();
    for (const { types, default: code } of Object.values<{ types: string; default: string }>(exports)) {
      expect(readFileSync(join(installed, types), 'utf8')).not.toBe('');
      // The package loads only its own files: no Node module and no other package.
      const imports = [...readFileSync(join(installed, code), 'utf8').matchAll(/from '([^']+)'/g)].map(([, from]) => from);
      expect(imports.filter((from) => !from!.startsWith('./'))).toEqual([]);
    }
  });

  it('the built package runs on Node with the client, Hono, Express and a fetch-style server', async () => {
    const service = new FakeService();
    const baseUrl = await listen(getRequestListener(service.fetch));
    const [{ createClient }, forHono, forExpress, forFetch] = await Promise.all(['index', 'hono', 'express', 'fetch'].map(load));
    const options = { client: createClient({ baseUrl, key: 'svc_live_x' }), product: 'p1' };
    const hono = new Hono().use(forHono.protect(options)).get('/', (c) => c.text('served'));
    const expressApp = express().use(forExpress.protect(options));
    expressApp.get('/', (_req, res) => void res.send('served'));
    const fetchStyle = forFetch.protect(options, () => new Response('served'));
    for (const [name, listener] of Object.entries({
      hono: getRequestListener(hono.fetch),
      express: expressApp as RequestListener,
      fetch: getRequestListener(fetchStyle),
    })) {
      const shop = await listen(listener);
      const pay = () => fetch(shop, { headers: { 'PAYMENT-SIGNATURE': `pay:${name}:1` } });
      expect((await fetch(shop)).status, name).toBe(402);
      expect(await (await pay()).text(), name).toBe('served');
      expect((await pay()).status, name).toBe(409);
    }
    expect(service.openUses).toBe(3);
  });

  it('the README examples compile strictly against the package’s types', () => {
    expect(examples.length).toBeGreaterThanOrEqual(5);
    for (const [index, code] of examples.entries()) writeFileSync(join(home, `example-${index}.ts`), code);
    // Without a declaration file everything would be `any` and would compile.
    const typed = `import { createClient } from '@svc/sdk';
      export const product = await createClient({ baseUrl: '' }).products.get('p');
      // @ts-expect-error a name is a text
      export const wrong: number = product.name;`;
    writeFileSync(join(home, 'typed.ts'), typed);
    const compilerOptions = { module: 'NodeNext', target: 'ES2022', strict: true, noEmit: true, types: ['node'], skipLibCheck: true };
    writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    execFileSync(bin('tsc'), ['-p', '.'], { cwd: home, stdio: 'inherit' });
  }, 60_000);

  it.each([
    { project: 'Hono', adapter: '@svc/sdk/hono', packages: ['hono', '@types/node', 'undici-types'], types: ['node'] },
    { project: 'Express', adapter: '@svc/sdk/express', packages: ['express', '@types', 'undici-types'], types: ['node', 'express'] },
    { project: 'a plain Worker', adapter: '@svc/sdk/fetch', packages: ['@cloudflare/workers-types'], types: ['@cloudflare/workers-types'] },
  ])(
    'the packed package compiles in a fresh project for $project with every strict check',
    ({ adapter, packages, types }) => {
      const code = examples.find((one) => one.includes(`'${adapter}'`))!;
      const fresh = mkdtempSync(join(tmpdir(), 'svc-fresh-'));
      try {
        // Exactly the files that npm would pack.
        const packed = JSON.parse(
          execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: installed, encoding: 'utf8' }),
        );
        const files: string[] = packed[0].files.map(({ path }: { path: string }) => path);
        expect(files).toEqual(expect.arrayContaining(['package.json', 'dist/index.js', 'dist/index.d.ts']));
        for (const file of files) cpSync(join(installed, file), join(fresh, 'node_modules/@svc/sdk', file));
        for (const name of packages) {
          mkdirSync(join(fresh, 'node_modules', name, '..'), { recursive: true });
          symlinkSync(join(ROOT, 'node_modules', name), join(fresh, 'node_modules', name));
        }
        // A Worker has no `process`.
        writeFileSync(
          join(fresh, 'index.ts'),
          types.includes('node') ? code : `declare const process: { env: Record<string, string> };\n${code}`,
        );
        writeFileSync(join(fresh, 'package.json'), '{"type":"module"}');
        const strict = { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noImplicitOverride: true };
        const compilerOptions = {
          ...strict,
          module: 'NodeNext',
          target: 'ES2022',
          lib: ['ES2022'],
          types,
          noEmit: true,
          skipLibCheck: false,
        };
        writeFileSync(join(fresh, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
        execFileSync(bin('tsc'), ['-p', '.'], { cwd: fresh, stdio: 'inherit' });
      } finally {
        rmSync(fresh, { recursive: true });
      }
    },
    60_000,
  );

  it('the README examples for Hono and fetch-style servers run unchanged', async () => {
    const service = new FakeService();
    const baseUrl = await listen(getRequestListener(service.fetch));
    Object.assign(process.env, { SVC_URL: baseUrl, SVC_KEY: 'svc_live_x', SVC_PRODUCT: 'p1' });
    const starts = examples
      .map((code, index) => ({ code, index }))
      // Metered examples are skipped, because they need another client and the real service.
      .filter(({ code }) => code.includes('export default') && !code.includes('metered'));
    expect(starts.length).toBe(2);
    for (const { code, index } of starts) {
      writeFileSync(join(home, `start-${index}.ts`), code);
      const { default: shop } = await import(/* @vite-ignore */ pathToFileURL(join(home, `start-${index}.ts`)).href);
      const ask = (headers: Record<string, string>) => shop.fetch(new Request('https://weather.test/forecast', { headers }));
      expect((await ask({})).status).toBe(402);
      expect(await (await ask({ 'PAYMENT-SIGNATURE': `pay:bob:${index}` })).json()).toEqual({ weather: 'sunny', left: 0 });
    }
  });
});
