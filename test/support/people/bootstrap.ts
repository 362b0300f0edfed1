import { MANIFEST_EXAMPLE } from '#features/agent-setup/manifest/schema.ts';
import type { PlanName } from '#rules/plans.ts';
import { testEnv } from '../runner/env.ts';
import type { Answer, CallOptions, World } from '../world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

export const BOOTSTRAP = '/v1/access/agent-bootstrap';

export const goodManifest = async (w: World, over: Record<string, unknown> = {}): Promise<Record<string, unknown>> => ({
  ...MANIFEST_EXAMPLE,
  payout: { rail_id: 'x402_solana_usdc', wallet_address: (await w.chain.wallet(0n)).address },
  ...over,
});

export class Setup {
  readonly w: World;
  readonly created: Body;

  constructor(w: World, created: Body) {
    this.w = w;
    this.created = created;
  }

  static async create(w: World, input: Record<string, unknown> = {}): Promise<Setup> {
    const { status, body } = await w.call('POST', BOOTSTRAP, { body: { agent_name: 'Weather agent', ...input } });
    if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return new Setup(w, body);
  }

  get id(): string {
    return this.created.setup_intent_id;
  }
  get secret(): string {
    return this.created.setup_secret;
  }

  call(step: 'status' | 'manifest' | 'approve', body: Record<string, unknown> = {}, options: CallOptions = {}): Promise<Answer<Body>> {
    return this.w.call('POST', `${BOOTSTRAP}/${this.id}/${step}`, { body: { setup_secret: this.secret, ...body }, ...options });
  }

  approveLive(over: Record<string, unknown> = {}, options: CallOptions = {}): Promise<Answer<Body>> {
    return this.call('approve', { issue_live_key: true, live_mode_confirmed: true, ...over }, options);
  }

  async ready(plan: PlanName = 'starter', over: Record<string, unknown> = {}): Promise<this> {
    const { status, body } = await this.call('manifest', await goodManifest(this.w, over));
    if (body.status !== 'ready') throw new Error(`${status}: ${JSON.stringify(body)}`);
    await this.hold(plan);
    return this;
  }

  hold(plan: PlanName): Promise<unknown> {
    return testEnv.DB.prepare('UPDATE accounts SET plan = ?, version = version + 1 WHERE id = ?').bind(plan, this.created.account_id).run();
  }

  async runOut(bySeconds = 120): Promise<void> {
    const at = Date.now() - bySeconds * 1000;
    await testEnv.DB.prepare('UPDATE setup_intents SET expires_at = ? WHERE id = ?').bind(at, this.id).run();
  }

  async liveKeys(): Promise<string[]> {
    const { results } = await testEnv.DB.prepare(
      'SELECT id FROM api_keys WHERE merchant_id = ? AND livemode = 1 AND revoked_at IS NULL ORDER BY id',
    )
      .bind(this.created.account_id)
      .all<{ id: string }>();
    return results.map(({ id }) => id);
  }

  row(): Promise<Body> {
    return testEnv.DB.prepare('SELECT * FROM setup_intents WHERE id = ?').bind(this.id).first();
  }
}
