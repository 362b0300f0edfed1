import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundle } from '../../bundle.ts';
import { freePort } from '../../cli/ports.ts';
import { openSecrets } from '../../cli/secrets.ts';
import type { Teardown } from '../../cli/teardown.ts';
import { workerdPath } from '../../service/wrangler.ts';
import { endProcess, type Server, until } from '../load/processes.ts';

const ENTRY = join(import.meta.dirname, 'worker.ts');
const WRANGLER_TOML = join(import.meta.dirname, '../../../wrangler.toml');
/** Raises the plan limits above the measured load. */
const RATE_MULTIPLIER = '1000000';
const OBJECTS = {
  ADMISSION: 'Admission',
  ENTITLEMENT: 'Entitlement',
  METERED_SESSION: 'MeteredSession',
  UNGROUPED: 'Ungrouped',
  BARE: 'Bare',
};

export async function startWorkerd({ stateDir, teardown }: { stateDir: string; teardown: Teardown }): Promise<Server> {
  const outDir = join(stateDir, 'worker');
  const { outputs } = await bundle(ENTRY, outDir);
  const modules = Object.keys(outputs).flatMap((path) => (path.endsWith('.js') ? [basename(path)] : []));
  const port = await freePort(0, '--port');
  mkdirSync(join(stateDir, 'objects'), { recursive: true });
  const config = join(stateDir, 'config.capnp');
  writeFileSync(config, capnpConfig({ modules, port, variables: variablesOf(stateDir), ...compatibility() }), { mode: 0o600 });
  const child = spawn(workerdPath(), ['serve', '--experimental', config], { cwd: stateDir, stdio: ['ignore', 'ignore', 'inherit'] });
  teardown.defer(() => endProcess(child));
  await until('workerd', child, async () => (await fetch(`http://127.0.0.1:${port}/bench/empty`)).ok);
  return { port, pids: () => [child.pid!] };
}

/** Reads the real worker's settings, so that the bench runs on the deployed compatibility date. */
function compatibility(): { date: string; flags: string } {
  const toml = readFileSync(WRANGLER_TOML, 'utf8');
  const settingOf = (name: string): string => new RegExp(`^${name} = (.+)$`, 'm').exec(toml)![1]!;
  return { date: settingOf('compatibility_date'), flags: settingOf('compatibility_flags') };
}

function variablesOf(stateDir: string): Record<string, string> {
  const { pepper, jwtKeys, receiptKeys, emailKeys, sandboxSeed, sealKeys, factorKeys } = openSecrets(stateDir);
  const forEmails = { EMAIL_LINK_KEYS: emailKeys, SANDBOX_SEED: sandboxSeed, FACTOR_KEYS: factorKeys };
  const secrets = { PEPPER: pepper, JWT_KEYS: jwtKeys, RECEIPT_KEYS: receiptKeys, SEAL_KEYS: sealKeys, ...forEmails };
  const toml = readFileSync(WRANGLER_TOML, 'utf8');
  const reference = /^SERVICE_REFERENCE = "(.+)"$/m.exec(toml)![1]!;
  return { ...secrets, NETWORK: 'devnet', RPC_URL: 'http://127.0.0.1:1', SERVICE_REFERENCE: reference, RATE_MULTIPLIER };
}

interface ConfigParts {
  modules: string[];
  port: number;
  variables: Record<string, string>;
  date: string;
  flags: string;
}

/** Builds the configuration. Paths are relative to the file, and every object has its own SQLite file under objects/. */
function capnpConfig({ modules, port, variables, date, flags }: ConfigParts): string {
  const module = (name: string) => `(name = "${name}", ${name.endsWith('.wasm') ? 'wasm' : 'esModule'} = embed "worker/${name}")`;
  // workerd uses the first module as the request handler.
  const ordered = modules.toSorted((a, b) => Number(b === 'worker.js') - Number(a === 'worker.js'));
  const namespaces = Object.values(OBJECTS).map((name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`);
  const bindings = [
    ...Object.entries(OBJECTS).map(([name, className]) => `(name = "${name}", durableObjectNamespace = "${className}")`),
    ...Object.entries(variables).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`),
  ];
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "objects", disk = (path = "objects", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${ordered.map(module).join(', ')}],
  compatibilityDate = ${date},
  compatibilityFlags = ${flags},
  durableObjectNamespaces = [${namespaces.join(', ')}],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [${bindings.join(', ')}],
);
`;
}
