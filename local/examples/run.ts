import { endOnSignals } from '../cli/signals.ts';
import { Teardown } from '../cli/teardown.ts';
import { Narrator } from '../demo/narrator.ts';
import { playAgentThatBuys } from './agent-that-buys.ts';
import { playApiPerRequest } from './api-per-request.ts';
import { playExpress } from './express.ts';
import { playMembershipNext } from './membership-next.ts';
import { buildSdk } from './sdk.ts';
import { type ExampleService, openService, type Stage } from './stage.ts';
import { playStreamingTokens } from './streaming-tokens.ts';
import { playTelegramChannel } from './telegram-channel.ts';

/** `npm run example -- <name>`: a project of examples/ with a fresh service and a buyer, on this machine. */
interface Example {
  sells: string;
  play(stage: Stage): Promise<void>;
}

const EXAMPLES: Record<string, Example> = {
  'api-per-request': { sells: 'An API on Cloudflare Workers that agents pay for, one request at a time.', play: playApiPerRequest },
  express: { sells: 'One route of an Express server, one request at a time.', play: playExpress },
  'agent-that-buys': {
    sells: 'An agent that opens its own account, buys a plan, and pays for API calls within a budget.',
    play: playAgentThatBuys,
  },
  'streaming-tokens': {
    sells: 'Text by the token: the buyer signs vouchers, and the seller closes the session.',
    play: playStreamingTokens,
  },
  'membership-next': {
    sells: 'A members’ page with Next.js: hosted checkout, verified webhook, access for 30 days.',
    play: playMembershipNext,
  },
  'telegram-channel': {
    sells: 'A Telegram channel by the month: the bot invites members and removes them when their time is over.',
    play: playTelegramChannel,
  },
};

const names = Object.keys(EXAMPLES);
const teardown = new Teardown();
endOnSignals(teardown, 1);

function usage(): string {
  const width = Math.max(...names.map(({ length }) => length));
  const rows = names.map((name) => `  ${name.padEnd(width)}  ${EXAMPLES[name]!.sells}`);
  return ['npm run example -- <name>', '', ...rows, `  ${'all'.padEnd(width)}  Each of them in turn.`].join('\n');
}

async function main(asked: string[]): Promise<number> {
  const unknown = asked.find((name) => name !== 'all' && !Object.hasOwn(EXAMPLES, name));
  if (unknown !== undefined) {
    console.error(`There is no example "${unknown}".\n\n${usage()}`);
    return 1;
  }
  // Always in the order of the table: the last one moves the clock of the chain.
  const chosen = names.filter((name) => asked.includes(name) || asked.includes('all'));
  if (chosen.length === 0) console.log(usage());
  else await playAll(chosen);
  return 0;
}

async function playAll(chosen: string[]): Promise<void> {
  const narrator = new Narrator();
  buildSdk((step) => narrator.say(step));
  const service = await openService(narrator, teardown);
  const end = service.gaveUp.then((lastOutput) => Promise.reject(new Error(lastOutput)));
  for (const name of chosen) await Promise.race([playExample(name, service), end]);
}

/** Plays one example, and ends everything else that it started. */
async function playExample(name: string, service: ExampleService): Promise<void> {
  const startedAt = Date.now();
  const narrator = new Narrator();
  const own = new Teardown();
  teardown.defer(() => own.run());
  console.log(`\n${name}: ${EXAMPLES[name]!.sells}`);
  await EXAMPLES[name]!.play({ ...service, narrator, teardown: own });
  await own.run();
  narrator.say(`Took ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
  narrator.end('example ok');
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!teardown.hasBegun) new Narrator().fail(`example failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
await teardown.run();
process.exit();
