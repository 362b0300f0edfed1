import { cpSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exec, require } from './checks.ts';

export interface Container {
  env: Record<string, string>;
  user: string;
  ports: string[];
  /** Arguments of `sh -c`. */
  healthCheck: string;
  command: string[];
}

/** Undoes a setting of this repository's .npmrc, which npm hands to the scripts that it runs. */
const OF_USER = { npm_config_strict_allow_scripts: 'false' };

/** Steps of a Containerfile: instruction and its text, with continued lines joined. */
function stepsIn(text: string): [instruction: string, rest: string][] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => [line.split(' ', 1)[0]!, line.slice(line.indexOf(' ') + 1).trim()]);
}

/** Runs the steps of a Containerfile as a builder does, with `folder` as the home of its user, and returns what remains to be run. */
export async function runSteps(file: string, context: string, folder: string): Promise<Container> {
  const container: Container = { env: {}, user: 'root', ports: [], healthCheck: '', command: [] };
  for (const [instruction, rest] of stepsIn(readFileSync(file, 'utf8'))) {
    if (instruction === 'FROM') require(rest === 'node:22-slim', `another base: ${rest}`);
    else if (instruction === 'USER') container.user = rest;
    else if (instruction === 'WORKDIR') require(rest === '/home/node', `another folder: ${rest}`);
    else if (instruction === 'COPY') copy(rest, context, folder);
    else if (instruction === 'RUN') await exec('sh', ['-c', rest], { cwd: folder, env: { ...OF_USER, ...container.env } });
    else if (instruction === 'ENV') Object.assign(container.env, Object.fromEntries([rest.split('=') as [string, string]]));
    else if (instruction === 'EXPOSE') container.ports.push(rest);
    else if (instruction === 'HEALTHCHECK') container.healthCheck = rest.slice(rest.indexOf('CMD ') + 4);
    else if (instruction === 'CMD') container.command = JSON.parse(rest);
    else throw new Error(`${instruction} is not known`);
  }
  return container;
}

function copy(rest: string, context: string, folder: string): void {
  const [from, to] = rest.split(/\s+/).filter((part) => !part.startsWith('--'));
  const found = globSync(from!, { cwd: context });
  require(found.length === 1, `${from} names ${found.length} files`);
  cpSync(join(context, found[0]!), join(folder, to!));
}
