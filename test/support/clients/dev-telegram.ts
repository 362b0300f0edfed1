import { expect } from 'vitest';
import type { World } from '../world.ts';

export class DevTelegram {
  readonly #world: World;
  constructor(world: World) {
    this.#world = world;
  }

  async read(): Promise<string> {
    return textOf((await this.#world.call<string>('GET', '/dev/telegram')).body);
  }

  async act(fields: Record<string, string>): Promise<string> {
    const { status, body } = await this.send(fields);
    expect(status).toBe(200);
    return textOf(body);
  }

  send(fields: Record<string, string>, origin = 'https://svc.test') {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin };
    return this.#world.call<string>('POST', '/dev/telegram', { headers, raw: new URLSearchParams(fields).toString() });
  }
}

const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
