import { expect } from 'vitest';
import type { Env, PlacementMessage } from '#platform/context.ts';
import type { DeliveryTarget, IdentityProvider } from '#rules/payment-terms.ts';
import type { Fault, PlatformCall } from '../../../local/outside/messaging.ts';
import worker from '../../../worker/index.ts';
import { CONNECTOR_SECRETS, testEnv } from '../runner/env.ts';
import { type HeldPlacement, invoked } from '../runner/invocation.ts';
import { type Merchant, World } from '../world.ts';

interface TelegramState {
  calls: PlatformCall[];
  chats: {
    id: string;
    members: string[];
    banned: string[];
    invites: { link: string; isRevoked: boolean; used: number; expiresAt: number | null }[];
  }[];
  messages: { to: string; text: string }[];
}
interface DiscordState {
  calls: PlatformCall[];
  guilds: { id: string; members: { user: string; roles: string[] }[] }[];
  invites: { code: string; channel: string; isDeleted: boolean }[];
  messages: { to: string; text: string }[];
}

/** World with Telegram and Discord servers of its own and queues that a test delivers. */
export class MembersWorld extends World {
  #worldUrl(provider: IdentityProvider): string {
    const token = this.env[provider === 'telegram' ? 'TELEGRAM_BOT_TOKEN' : 'DISCORD_BOT_TOKEN'] as string;
    return `${testEnv.TEST_OUTSIDE_URL}/${provider}-world/${encodeURIComponent(token)}`;
  }

  telegram = async (): Promise<TelegramState> => (await fetch(this.#worldUrl('telegram'))).json();
  discord = async (): Promise<DiscordState> => (await fetch(this.#worldUrl('discord'))).json();

  /** Simulates an event that no bot causes: a person joins, blocks or kicks. */
  async happens(provider: IdentityProvider, change: Record<string, string>): Promise<void> {
    await (await fetch(this.#worldUrl(provider), { method: 'POST', body: JSON.stringify(change) })).text();
  }

  async fault(provider: IdentityProvider, fault: Fault): Promise<void> {
    await (await fetch(this.#worldUrl(provider), { method: 'POST', body: JSON.stringify({ fault }) })).text();
  }

  connector(provider: IdentityProvider, what: string, body: object) {
    const headers = { 'X-Svc-Connector-Secret': CONNECTOR_SECRETS[provider][0] };
    return this.call('POST', `/v1/integrations/connectors/${provider}/${what}`, { headers, body });
  }

  async claim(merchant: Merchant, provider: IdentityProvider, nativeId: string): Promise<string> {
    const begun = await this.call('POST', '/v1/account/delivery/claims', { key: merchant.key, body: { provider } });
    const name = provider === 'telegram' ? 'chat_id' : 'guild_id';
    const { status, body } = await this.connector(provider, 'claims', { code: begun.body.code, [name]: nativeId });
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body.claim_id;
  }

  async club(merchant: Merchant, target: DeliveryTarget, terms: Record<string, unknown> = {}) {
    return this.product(merchant, { name: 'The club', product_type: target.provider, delivery: target, ...terms });
  }

  /** Identifies a buyer at the platform. Returns the identity session. */
  async identified(product: { slug: string }, user: string, provider: IdentityProvider = 'telegram', shown: object = {}): Promise<string> {
    const { body } = await this.call('POST', `/v1/products/p/${product.slug}/identity`);
    await this.connector(provider, 'identity', {
      identity_session_id: body.identity_session_id,
      provider_user_id: user,
      username: 'bea',
      ...shown,
    });
    return body.identity_session_id;
  }

  /** Buys as an identified user. Nothing is delivered yet. */
  async join(
    product: { slug: string },
    user: string,
    { provider = 'telegram' as IdentityProvider, buyer = undefined as never, input = {}, shown = {} } = {},
  ) {
    const session = await this.identified(product, user, provider, shown);
    const bought = await this.purchase(product, buyer ?? (await this.chain.wallet()), { identity_session_id: session, ...input });
    return { ...bought, session, membershipId: bought.confirmed.membership_id as string };
  }

  /** Consumes the platform queues once. Fails if a message waits in another platform's queue. */
  async target(messages: HeldPlacement[] = this.placements.splice(0), env: Env = this.env): Promise<{ retried: number }> {
    let retried = 0;
    for (const queue of new Set(messages.map((message) => message.queue))) {
      const theirs = messages.filter((message) => message.queue === queue);
      for (const { membershipId } of theirs) {
        const row = testEnv.DB.prepare('SELECT provider FROM placements WHERE membership_id = ?').bind(membershipId);
        expect([null, queue.replace('svc-', '')]).toContain(await row.first<string>('provider'));
      }
      const batch = theirs.map(({ queue: _, ...body }, index) => ({
        id: `p${index}`,
        timestamp: new Date(),
        attempts: 1,
        body,
        ack: () => {},
        retry: () => retried++,
      }));
      await invoked('placements', (execution) =>
        worker.queue({ queue, messages: batch } as unknown as MessageBatch<PlacementMessage>, env, execution),
      );
    }
    return { retried };
  }

  async settleDown(): Promise<void> {
    while (this.queue.sent.length + this.placements.length > 0) {
      await this.deliver();
      await this.target();
    }
  }

  async due(): Promise<void> {
    await testEnv.DB.prepare('UPDATE placements SET next_attempt_at = 0, lease_until = 0 WHERE next_attempt_at IS NOT NULL').run();
    await this.sweepAlone('placements');
    await this.settleDown();
  }

  async member(merchant: Merchant, paymentId: string) {
    return (await this.call('GET', `/v1/memberships/lookup?payment_id=${paymentId}`, { key: merchant.key })).body;
  }

  async lapse(membershipId: string): Promise<void> {
    await testEnv.DB.prepare('UPDATE memberships SET paid_through = 1, grace_until = CASE status WHEN ? THEN 1 END WHERE id = ?')
      .bind('grace', membershipId)
      .run();
    await this.sweepAlone('memberships');
  }
}
