import { readFileSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { type Pass, passAtOnce } from './way.ts';

const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.ttf': 'font/ttf' };

/** `env.ASSETS`: files of a folder, each read once. */
export class AssetsBinding {
  readonly #folder: string;
  readonly #pass: Pass;
  readonly #files = new Map<string, Uint8Array<ArrayBuffer> | null>();

  constructor(folder: string, pass: Pass = passAtOnce) {
    this.#folder = folder;
    this.#pass = pass;
  }

  fetch(input: string | URL | Request): Promise<Response> {
    const path = normalize(decodeURIComponent(new URL(input instanceof Request ? input.url : input).pathname));
    return this.#pass({ kind: 'fetch', target: 'ASSETS', verb: 'GET' }, () => {
      const bytes = this.#read(path);
      if (!bytes) return new Response(null, { status: 404 });
      return new Response(bytes, { headers: { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' } });
    });
  }

  #read(path: string): Uint8Array<ArrayBuffer> | null {
    const known = this.#files.get(path) ?? readIfExists(join(this.#folder, path));
    this.#files.set(path, known);
    return known;
  }
}

function readIfExists(path: string): Uint8Array<ArrayBuffer> | null {
  try {
    return new Uint8Array(readFileSync(path));
  } catch {
    return null;
  }
}
