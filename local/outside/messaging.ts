import { type Asked, type Said, say } from './http.ts';

/** What a small platform does instead of the next call of this name, or of any. */
export interface Fault {
  /** A method of Telegram's, or `PUT /guilds`: how the call begins. */
  call?: string;
  /** `lost`: it is done, and the answer is not heard; `silent`: there is none in time. */
  kind: 'busy' | 'broken' | 'lost' | 'silent' | 'down';
  retryAfter?: number;
  times?: number;
}

/** One call as it came. */
export interface PlatformCall {
  at: number;
  name: string;
  body: Record<string, unknown>;
}

/** What every small platform has: the calls it took, the faults it was told to have, and a page that tells and is told of both. */
export abstract class SmallPlatform<P extends object> {
  readonly #rooms = new Map<string, { place: P; calls: PlatformCall[]; faults: Fault[] }>();

  protected abstract fresh(): P;
  protected abstract busy(seconds: number): Said;
  protected abstract broken(): Said;
  /** A change of the world that no bot makes: a person joins, leaves, blocks. */
  protected abstract happen(place: P, change: Record<string, string>): void;
  protected abstract show(place: P): unknown;

  protected roomOf(token: string) {
    const known = this.#rooms.get(token) ?? { place: this.fresh(), calls: [], faults: [] };
    this.#rooms.set(token, known);
    return known;
  }

  /** Takes a call, unless a fault stands before it. */
  protected async take(token: string, name: string, body: Record<string, unknown>, answer: (place: P) => Said): Promise<Said> {
    const { place, calls, faults } = this.roomOf(token);
    calls.push({ at: Date.now(), name, body });
    const fault = faults.find(({ call = '' }) => name.startsWith(call));
    if (!fault) return answer(place);
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) faults.splice(faults.indexOf(fault), 1);
    if (fault.kind === 'busy') return this.busy(fault.retryAfter ?? 1);
    if (fault.kind === 'broken') return this.broken();
    if (fault.kind === 'lost') answer(place);
    if (fault.kind === 'silent') await new Promise((resolve) => setTimeout(resolve, 12_000));
    return { status: -1 };
  }

  /** `GET /<part>/<token>`: all there is; `POST`: `{fault}` or a change. */
  control(asked: Asked): Said {
    const token = decodeURIComponent(asked.url.pathname.split('/')[2] ?? '');
    const room = this.roomOf(token);
    if (asked.method === 'POST') {
      const told = JSON.parse(asked.body) as { fault?: Fault } & Record<string, string>;
      if (told.fault) room.faults.push(told.fault);
      else this.happen(room.place, told);
    }
    return say(200, { calls: room.calls, ...(this.show(room.place) as object) });
  }
}

export const bodyOf = (asked: Asked): Record<string, unknown> => (asked.body === '' ? {} : JSON.parse(asked.body));
