import { type Asked, type Said, say } from './http.ts';

/** Fault that replaces the next call of this name, or any call. */
export interface Fault {
  /** Prefix of the call: a Telegram method, or `PUT /guilds`. */
  call?: string;
  /** `lost`: executed, but the answer is lost. `silent`: no answer in time. */
  kind: 'busy' | 'broken' | 'lost' | 'silent' | 'down';
  retryAfter?: number;
  times?: number;
}

export interface PlatformCall {
  at: number;
  name: string;
  body: Record<string, unknown>;
}

/** Base of simulated platforms: recorded calls, requested faults, and a control page for both. */
export abstract class SmallPlatform<P extends object> {
  readonly #rooms = new Map<string, { state: P; calls: PlatformCall[]; faults: Fault[] }>();

  protected abstract fresh(): P;
  protected abstract busy(seconds: number): Said;
  protected abstract broken(): Said;
  /** Applies a change by a person instead of the bot: join, leave, block. */
  protected abstract happen(state: P, change: Record<string, string>): void;
  protected abstract show(state: P): unknown;

  protected roomOf(token: string) {
    const known = this.#rooms.get(token) ?? { state: this.fresh(), calls: [], faults: [] };
    this.#rooms.set(token, known);
    return known;
  }

  protected async take(token: string, name: string, body: Record<string, unknown>, answer: (state: P) => Said): Promise<Said> {
    const { state, calls, faults } = this.roomOf(token);
    calls.push({ at: Date.now(), name, body });
    const fault = faults.find(({ call = '' }) => name.startsWith(call));
    if (!fault) return answer(state);
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) faults.splice(faults.indexOf(fault), 1);
    if (fault.kind === 'busy') return this.busy(fault.retryAfter ?? 1);
    if (fault.kind === 'broken') return this.broken();
    if (fault.kind === 'lost') answer(state);
    if (fault.kind === 'silent') await new Promise((resolve) => setTimeout(resolve, 12_000));
    return { status: -1 };
  }

  /** `GET /<part>/<token>` returns the state, `POST` applies a `{fault}` or a change. */
  control(asked: Asked): Said {
    const token = decodeURIComponent(asked.url.pathname.split('/')[2] ?? '');
    const room = this.roomOf(token);
    if (asked.method === 'POST') {
      const order = JSON.parse(asked.body) as { fault?: Fault } & Record<string, string>;
      if (order.fault) room.faults.push(order.fault);
      else this.happen(room.state, order);
    }
    return say(200, { calls: room.calls, ...(this.show(room.state) as object) });
  }
}

export const bodyOf = (asked: Asked): Record<string, unknown> => (asked.body === '' ? {} : JSON.parse(asked.body));
