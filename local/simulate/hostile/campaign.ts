import { readPublished } from '../book/document.ts';
import { History } from '../book/history.ts';
import type { Answer, Host } from '../book/host.ts';
import type { SimulatedService } from '../runtime/host.ts';
import { Random } from '../runtime/random.ts';
import { Agent } from '../world/actors/agent.ts';
import { Buyer } from '../world/actors/buyer.ts';
import { Caller } from '../world/actors/caller.ts';
import { type Merchant, newWallet, openShop, type World } from '../world/actors/open-shop.ts';
import { Tester } from '../world/actors/tester.ts';
import { Dice } from '../world/outside/dice.ts';
import { openWorld } from '../world/play.ts';
import { LATE_GRACE_SECONDS, SETTINGS, TREASURY } from '../world/settings.ts';
import { type Cast, drawRequest, type Sent, toCurl } from './requests.ts';
import { Shapes } from './shapes.ts';
import { capabilities, noteSales, openTenant, rowNames, type Tenant } from './tenant.ts';
import { readBooks } from './victim.ts';

/** Requests of one seed. Then the next one begins in an empty database, so that a finding is seen again soon. */
export const REQUESTS_EACH = 5_000;
const AT_ONCE = 8;
const BUYERS = [Buyer, Buyer, Agent, Agent, Tester];
const STEPS = 12;
const DOLLARS = 5_000n;
const QUIET_MS = 10 * 60_000;
const OPERATOR_SECRET = 'the secret of the operator of a simulated service';
/** Variables of a deployment with every provider, apart from sign-in by OAuth. */
const VARIABLES: Readonly<Record<string, string>> = {
  ...SETTINGS,
  OPERATOR_SECRET,
  RPC_WEBHOOK_SECRET: 'the secret of the provider of a simulated chain',
  RESEND_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 14).toString('base64')}`,
  TELEGRAM_BOT_USERNAME: 'svc_simulated_bot',
  TELEGRAM_CONNECTOR_SECRETS: 'secret-of-the-simulated-telegram-connector',
  DISCORD_CLIENT_ID: '123456789012345678',
  DISCORD_REDIRECT_URI: 'https://connector.example.com/discord',
  DISCORD_CONNECTOR_SECRETS: 'secret-of-the-simulated-discord-connector',
};
/** Refusals of the providers that this deployment lacks. */
const UNCONFIGURED = ['oauth_not_configured'];

export interface HostileCounts {
  requests: number;
  statuses: Record<string, number>;
  routes: Set<string>;
  /** Routes that answered a success at least once. */
  succeeded: Set<string>;
}

export const noHostileCounts = (): HostileCounts => ({ requests: 0, statuses: {}, routes: new Set(), succeeded: new Set() });

/** Sends hostile requests of one seed, eight at once, and judges every answer and the books of the victim. Returns the findings. */
export async function runHostile(
  service: SimulatedService,
  seed: number,
  requests: number,
  counts: HostileCounts,
  onFinding: (text: string) => void,
): Promise<void> {
  const host = service.begin({ seed, variables: VARIABLES });
  try {
    const cast = await openCast(host, seed);
    const judged = new Judged(host, cast, counts, (words) => onFinding(`seed ${seed}: ${words}`));
    const books = await readBooks(host, cast.victim);
    const shapes = new Shapes(host.document);
    const dice = new Dice(new Random(seed, 'hostile').next);
    for (let sent = 0; sent < requests; sent += AT_ONCE) {
      const group = Array.from({ length: Math.min(AT_ONCE, requests - sent) }, () => drawRequest(shapes, cast, dice));
      await Promise.all(group.map((one) => judged.send(one)));
    }
    await host.settle();
    for (const change of books.compare(await readBooks(host, cast.victim)))
      onFinding(`seed ${seed}: the books of the victim changed: ${change}`);
  } finally {
    host.end();
  }
}

/** Opens two shops with objects of every kind, and lets buyers pay both of them. */
async function openCast(host: Host, seed: number): Promise<Cast> {
  const dice = new Dice(new Random(seed, 'people').next);
  const history = new History(host, { lateGraceMs: LATE_GRACE_SECONDS * 1000, treasury: TREASURY });
  const world = openWorld(host, history, dice);
  const means = () => ({ host, history, dice: dice.fork() });
  const merchants: Merchant[] = [];
  const tenants: Tenant[] = [];
  for (const name of ['attacker', 'victim']) {
    const caller = new Caller(name, means());
    const merchant = await openShop(caller, world);
    if (merchant === null) throw new Error(history.findings.join('\n'));
    await buyPlan(caller, merchant, world);
    merchants.push(merchant);
    tenants.push(await openTenant(host, merchant.shop, dice));
  }
  const actors = BUYERS.map((Role, number) => new Role(`buyer ${number}`, means(), world, merchants));
  for (let step = 0; step < STEPS; step++) for (const actor of actors) await actor.step();
  history.calm();
  await host.settle();
  await host.advance(QUIET_MS);
  await host.settle();
  for (const tenant of tenants) await noteSales(host, history, tenant);
  const [attacker, victim] = tenants as [Tenant, Tenant];
  return { attacker, victim, operatorSecret: OPERATOR_SECRET };
}

/** Buys the plan that has room for objects of every kind. */
async function buyPlan(caller: Caller, { shop }: Merchant, { chain }: World): Promise<void> {
  const path = '/v1/access/x402/activate/scale';
  const asked = await caller.persist('POST', path, { key: shop.liveKey });
  const signed = chain.signRequired(newWallet(caller, chain, DOLLARS), asked!.headers.get('PAYMENT-REQUIRED')!, caller.dice.nonce());
  const bought = await caller.persist('POST', path, { key: shop.liveKey, headers: { 'PAYMENT-SIGNATURE': signed } });
  if (bought?.status !== 200) throw new Error(`${shop.name} could not buy a plan: ${JSON.stringify(bought?.body)}`);
}

class Judged {
  readonly #host: Host;
  readonly #counts: HostileCounts;
  readonly #find: (words: string) => void;
  /** Texts of the victim that no answer may contain, and those that only a request that names them may see again. */
  readonly #secrets: readonly string[];
  readonly #names: Set<string>;
  readonly #capabilities: readonly string[];

  constructor(host: Host, { victim }: { victim: Tenant }, counts: HostileCounts, find: (words: string) => void) {
    this.#host = host;
    this.#counts = counts;
    this.#find = find;
    this.#secrets = [...victim.secrets, victim.shop.liveKey, victim.shop.sandboxKey, victim.shop.token, victim.readKey, victim.executeKey];
    this.#names = new Set(rowNames(victim));
    this.#capabilities = capabilities(victim);
  }

  async send(sent: Sent): Promise<void> {
    const { method, path, options, target } = sent;
    const fail = (words: string) => this.#find(`${words}\n  sent by ${sent.caller}: ${toCurl(sent)}`);
    const answer = await this.#host.call(method, path, options).catch((error: Error) => error);
    this.#counts.requests++;
    const route = `${method} ${target.template}`;
    this.#counts.routes.add(route);
    if (answer instanceof Error) return fail(`no answer: ${answer.message}`);
    this.#count(route, answer);
    if (answer.status >= 500 && !UNCONFIGURED.includes(answer.body?.code))
      fail(`${route} answered ${answer.status} ${JSON.stringify(answer.body)}`);
    // A row of the attacker may have the values that it was made with.
    if (method !== 'GET' && answer.status < 300) for (const name of this.#names) if (sent.text.includes(name)) this.#names.delete(name);
    const pathname = new URL(path, 'https://svc.test').pathname;
    for (const problem of readPublished(this.#host.document).check(method, pathname, answer.status, answer.body)) fail(problem);
    const leaked = this.#leaksOf(
      sent,
      `${typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)} ${JSON.stringify([...answer.headers])}`,
    );
    if (leaked !== undefined) fail(`${route} answered ${answer.status} with ${leaked}, which is the victim's`);
  }

  #count(route: string, { status, body }: Answer): void {
    const name = status === 503 ? `503 ${body?.code}` : `${status}`;
    this.#counts.statuses[name] = (this.#counts.statuses[name] ?? 0) + 1;
    if (status < 300) this.#counts.succeeded.add(route);
  }

  #leaksOf({ text }: Sent, said: string): string | undefined {
    const secret = this.#secrets.find((one) => said.includes(one) && !text.includes(one));
    if (secret !== undefined) return secret;
    // A page of the victim may show more of what its holder names.
    if (this.#capabilities.some((one) => text.includes(one))) return undefined;
    return [...this.#names].find((one) => said.includes(one) && !text.includes(one));
  }
}
