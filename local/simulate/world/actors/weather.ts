import { Actor } from './actor.ts';

const PAUSES_MS = [1_000, 10_000, 60_000, 300_000];
const NODE_FAULTS = ['null_first', 'http_503', 'http_429', 'rpc_error', 'no_history', 'drop'] as const;

/** Actor that lets time pass, and makes the nodes fail for some calls. */
export class Weather extends Actor {
  readonly verbs = [this.pause, this.spoilNode, this.spoilNode];

  async pause(): Promise<void> {
    const ms = this.dice.oneOf(PAUSES_MS);
    this.note(`${ms / 1000} seconds pass`);
    await this.host.advance(ms);
  }

  async spoilNode(): Promise<void> {
    const [node, kind, times] = [this.dice.oneOf(this.world.nodes), this.dice.oneOf(NODE_FAULTS), 1 + this.dice.below(3)];
    const method = kind === 'drop' ? { method: 'sendTransaction' } : {};
    this.history.noteTrouble();
    this.history.areNodesSpoiled = true;
    this.note(`${node} answers ${times} calls with ${kind}`);
    this.world.chain.fault(node, { kind, times, ...method });
  }
}
