import { describe, expect, it } from 'vitest';
import { MembersWorld } from '../../support/people/members.ts';
import { mailConfig } from '../../support/servers/mail.ts';

describe('receipt email facts', () => {
  const w = new MembersWorld(mailConfig());
  const readFacts = async (paymentId: string): Promise<string> => {
    const facts = await w.env.DB.prepare(
      `SELECT facts FROM mails WHERE template = 'buyer_receipt'
        AND unhex(json_extract(facts, '$.receipt_id'), '-') = (SELECT receipt_id FROM payments WHERE id = ?)`,
    )
      .bind(paymentId)
      .first<string>('facts');
    return facts!;
  };

  it('the email of a chat purchase names the platform and contains no invitation', async () => {
    const ada = await w.merchant();
    await w.claim(ada, 'telegram', '-5001');
    const club = await w.club(ada, { provider: 'telegram', chat_id: '-5001' });
    const { payment } = await w.join(club, '501', { input: { email: 'grace@example.com' } });
    await w.settleDown();
    const { delivery } = await w.member(ada, payment.payment_id);
    expect(delivery.status).toBe('delivered');
    const facts = await readFacts(payment.payment_id);
    expect(JSON.parse(facts).platform).toBe('Telegram');
    expect(facts).not.toContain(delivery.invite_url);
    const plain = await w.purchase(await w.product(ada), await w.chain.wallet(), { email: 'henry@example.com' });
    await w.deliver();
    expect(JSON.parse(await readFacts(plain.payment.payment_id))).not.toHaveProperty('platform');
  });

  it('the email has the payment time, the end of access, the support link and the colour of the seller', async () => {
    const ada = await w.merchant();
    const settings = {
      checkout_brand_name: 'Ada’s Weather',
      checkout_accent_hex: '#ffd400',
      default_support_url: 'https://ada.example/help',
    };
    await w.call('PATCH', '/v1/account/me', { key: ada.token, body: { merchant_settings: settings } });
    const product = await w.product(ada, { access_period_days: 30 });
    const { payment } = await w.purchase(product, await w.chain.wallet(), { email: 'ida@example.com' });
    await w.deliver();
    const facts = JSON.parse(await readFacts(payment.payment_id));
    expect(facts).toMatchObject({ seller: 'Ada’s Weather', accent: '#ffd400', help: 'https://ada.example/help' });
    const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`);
    expect([facts.access_until, Date.parse(facts.paid_at)]).toEqual([body.access_until, expect.any(Number)]);
  });
});
