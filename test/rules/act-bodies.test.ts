import { describe, expect, it } from 'vitest';
import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { decodeBody, encodeBody } from '#platform/db/acts/body.ts';
import type { ActEvent } from '#platform/db/tables/events.ts';
import { DICTIONARIES } from '#platform/db/tables/squeezed/dictionary.ts';
import { EVENT_TYPES, type EventType, eraseNames, hasNames } from '#rules/events.ts';
import { EVENT_CATALOG, exampleOf } from '../../worker/published/event-catalog.ts';

const exampleEvent = (type: EventType): ActEvent => {
  const { subject, data } = exampleOf(type);
  return {
    type,
    subjectType: EVENT_CATALOG[type].subject,
    subjectId: subject.id,
    subjectVersion: subject.version,
    data,
    productId: null,
    paymentId: null,
    membershipId: null,
  };
};

describe('body of an act', () => {
  it.each(EVENT_TYPES)('a body with an event %s is read as it was written', (type) => {
    const events = [exampleEvent(type)];
    expect(decodeBody(encodeBody(events))).toEqual(events);
  });

  it('all texts of JSON come back', () => {
    const event = exampleEvent('support.ticket_created');
    const events = [{ ...event, data: { object: { subject: '“Ünïcode” \u0000 💸 \\ "', empty: {}, list: [null, 1.5] } } }];
    expect(decodeBody(encodeBody(events))).toEqual(events);
  });

  it('the acts of a sale take less than two fifths of their JSON', () => {
    const sale = (['payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'] as const).map(exampleEvent);
    for (const events of [
      [exampleEvent('payment.created')],
      sale,
      [exampleEvent('payment.finalized')],
      [exampleEvent('entitlement.granted')],
    ])
      expect(encodeBody(events).length / JSON.stringify(events).length).toBeLessThan(0.4);
  });

  it('a body that an operator wrote without a dictionary is read', () => {
    const events = [exampleEvent('payout.changed')];
    expect(decodeBody(Uint8Array.of(0, ...utf8(JSON.stringify(events))))).toEqual(events);
  });

  it('an unknown dictionary is refused by its number', () => {
    const body = encodeBody([exampleEvent('payout.changed')]);
    body[0] = 77;
    expect(() => decodeBody(body)).toThrow('squeezed text: no dictionary has number 77');
  });

  it('damaged bytes are refused', () => {
    const body = encodeBody([exampleEvent('payment.created')]);
    expect(() => decodeBody(body.subarray(0, body.length - 4))).toThrow();
  });

  it('dictionary 1 and the numbers of the first types are as they were stored', () => {
    expect(sha256Hex(DICTIONARIES.get(1)!)).toBe('ece686a232afca2a56cf3f2484effe6e5ef9191a7eba6aa4f0637eed7fd02618');
    const first = EVENT_TYPES.slice(0, 38).join();
    expect(sha256Hex(utf8(first))).toBe('acdd1babd4ae9476b6531abc1578d673eadb64812506687c81814b7a56c0c824');
  });
});

describe('personal data in events', () => {
  it.each(['support.ticket_created', 'receipt.proof_sent'] as const)('an event %s names a person until its names are erased', (type) => {
    const event = structuredClone(exampleEvent(type));
    expect(hasNames(event)).toBe(true);
    expect(eraseNames(event)).toBe(true);
    expect([hasNames(event), eraseNames(event)]).toEqual([false, false]);
  });

  it('an event payment.created without an identity names nobody', () => {
    expect(hasNames(exampleEvent('payment.created'))).toBe(false);
  });
});
