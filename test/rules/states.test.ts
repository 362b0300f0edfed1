import { describe, expect, it } from 'vitest';
import { ApiError } from '#core/errors.ts';
import {
  ACCOUNT,
  AUTHORIZATION,
  CUSTOMER,
  DELIVERY,
  DOMAIN,
  ENDPOINT,
  INVITATION,
  MAIL,
  MEMBERSHIP,
  PAYMENT,
  PLACEMENT,
  PRODUCT,
  SANDBOX_SESSION,
  SETTLEMENT,
  SETUP,
  TICKET,
  UNMATCHED,
} from '#rules/states.ts';

/** Allowed transitions as `from -transition-> to`. All others must be refused. */
interface Promised {
  machine: {
    readonly states: readonly string[];
    next(state: string, transition: string): string;
    can(state: string, transition: string): boolean;
    isTerminal(state: string): boolean;
  };
  table: string;
  transitions: string[];
  terminal: string[];
  edges: string[];
}

const PROMISES: Record<string, Promised> = {
  payment: {
    machine: PAYMENT as unknown as Promised['machine'],
    table: 'payments',
    transitions: ['submit', 'confirm', 'fail'],
    terminal: ['CONFIRMED', 'FAILED'],
    edges: [
      'PENDING_SIGNATURE -submit-> PENDING_CONFIRMATION',
      'PENDING_SIGNATURE -fail-> FAILED',
      'PENDING_CONFIRMATION -submit-> PENDING_CONFIRMATION',
      'PENDING_CONFIRMATION -confirm-> CONFIRMED',
      'PENDING_CONFIRMATION -fail-> FAILED',
    ],
  },
  authorization: {
    machine: AUTHORIZATION as unknown as Promised['machine'],
    table: 'subscription_authorizations',
    transitions: ['authorize', 'collect', 'fallDue', 'requestCancel', 'cancel', 'resume', 'loseApproval', 'approve', 'expire'],
    terminal: [],
    edges: [
      'pending -authorize-> active',
      'pending -expire-> expired',
      'active -collect-> active',
      'active -fallDue-> past_due',
      'active -requestCancel-> cancel_requested',
      'active -cancel-> cancelled',
      'active -loseApproval-> requires_reapproval',
      'active -expire-> expired',
      'past_due -collect-> active',
      'past_due -requestCancel-> cancel_requested',
      'past_due -cancel-> cancelled',
      'past_due -loseApproval-> requires_reapproval',
      'past_due -expire-> expired',
      'requires_reapproval -collect-> active',
      'requires_reapproval -approve-> active',
      'requires_reapproval -requestCancel-> cancel_requested',
      'requires_reapproval -cancel-> cancelled',
      'requires_reapproval -expire-> expired',
      'cancel_requested -collect-> cancel_requested',
      'cancel_requested -resume-> active',
      'cancel_requested -cancel-> cancelled',
      'cancelled -collect-> cancel_requested',
      'cancelled -resume-> active',
      'expired -authorize-> active',
    ],
  },
  membership: {
    machine: MEMBERSHIP as unknown as Promised['machine'],
    table: 'memberships',
    transitions: ['activate', 'renew', 'startGrace', 'expire', 'revoke'],
    terminal: [],
    edges: [
      'pending -activate-> active',
      'active -renew-> active',
      'active -startGrace-> grace',
      'active -expire-> expired',
      'active -revoke-> cancelled',
      'grace -renew-> active',
      'grace -expire-> expired',
      'grace -revoke-> cancelled',
      'expired -renew-> active',
      'expired -revoke-> cancelled',
      'cancelled -renew-> active',
      'cancelled -revoke-> cancelled',
    ],
  },
  'missed payment': {
    machine: UNMATCHED as unknown as Promised['machine'],
    table: 'unmatched_payments',
    transitions: ['accept'],
    terminal: ['accepted'],
    edges: ['open -accept-> accepted'],
  },
  product: {
    machine: PRODUCT as unknown as Promised['machine'],
    table: 'products',
    transitions: ['archive', 'unarchive'],
    terminal: [],
    edges: ['active -archive-> archived', 'archived -unarchive-> active'],
  },
  'webhook endpoint': {
    machine: ENDPOINT as unknown as Promised['machine'],
    table: 'webhook_endpoints',
    transitions: ['disable', 'enable'],
    terminal: [],
    edges: ['enabled -disable-> disabled', 'disabled -enable-> enabled'],
  },
  'webhook delivery': {
    machine: DELIVERY as unknown as Promised['machine'],
    table: 'webhook_deliveries',
    transitions: ['succeed', 'retry', 'fail', 'cancel'],
    terminal: ['succeeded', 'failed', 'cancelled'],
    edges: [
      'pending -succeed-> succeeded',
      'pending -retry-> retrying',
      'pending -fail-> failed',
      'pending -cancel-> cancelled',
      'retrying -succeed-> succeeded',
      'retrying -retry-> retrying',
      'retrying -fail-> failed',
      'retrying -cancel-> cancelled',
    ],
  },
  mail: {
    machine: MAIL as unknown as Promised['machine'],
    table: 'mails',
    transitions: ['send', 'retry', 'fail', 'drop'],
    terminal: ['sent', 'failed', 'dropped'],
    edges: ['waiting -send-> sent', 'waiting -retry-> waiting', 'waiting -fail-> failed', 'waiting -drop-> dropped'],
  },
  placement: {
    machine: PLACEMENT as unknown as Promised['machine'],
    table: 'placements',
    transitions: ['deliver', 'retry', 'fail', 'revoke', 'again'],
    terminal: [],
    edges: [
      'pending -deliver-> delivered',
      'pending -retry-> pending',
      'pending -fail-> failed',
      'pending -revoke-> revoked',
      'pending -again-> pending',
      'delivered -retry-> delivered',
      'delivered -fail-> failed',
      'delivered -revoke-> revoked',
      'delivered -again-> pending',
      'failed -again-> pending',
      'failed -revoke-> revoked',
      'revoked -again-> pending',
    ],
  },
  setup: {
    machine: SETUP as unknown as Promised['machine'],
    table: 'setup_intents',
    transitions: ['refuse', 'accept', 'approve', 'expire', 'revive'],
    terminal: [],
    edges: [
      'created -refuse-> changes_required',
      'created -accept-> ready',
      'created -expire-> expired',
      'changes_required -refuse-> changes_required',
      'changes_required -accept-> ready',
      'changes_required -expire-> expired',
      'ready -refuse-> changes_required',
      'ready -accept-> ready',
      'ready -approve-> approved',
      'ready -expire-> expired',
      'approved -approve-> approved',
      'approved -expire-> expired',
      'expired -revive-> created',
    ],
  },
  settlement: {
    machine: SETTLEMENT as unknown as Promised['machine'],
    table: 'settlements',
    transitions: ['settle', 'fail'],
    terminal: ['settled'],
    edges: ['pending -settle-> settled', 'pending -fail-> failed', 'failed -settle-> settled', 'failed -fail-> failed'],
  },
  account: {
    machine: ACCOUNT as unknown as Promised['machine'],
    table: 'accounts',
    transitions: ['suspend', 'resume', 'delete'],
    terminal: ['deleted'],
    edges: ['active -suspend-> suspended', 'active -delete-> deleted', 'suspended -resume-> active', 'suspended -delete-> deleted'],
  },
  invitation: {
    machine: INVITATION as unknown as Promised['machine'],
    table: 'invitations',
    transitions: ['accept', 'withdraw'],
    terminal: ['accepted', 'withdrawn'],
    edges: ['pending -accept-> accepted', 'pending -withdraw-> withdrawn'],
  },
  'seller’s domain': {
    machine: DOMAIN as unknown as Promised['machine'],
    table: 'seller_domains',
    transitions: ['verify', 'fail'],
    terminal: [],
    edges: ['pending -verify-> verified', 'verified -verify-> verified', 'verified -fail-> failed', 'failed -verify-> verified'],
  },
  'sandbox session': {
    machine: SANDBOX_SESSION as unknown as Promised['machine'],
    table: 'sandbox_sessions',
    transitions: ['complete', 'fail', 'advance'],
    terminal: ['failed'],
    edges: ['running -complete-> completed', 'running -fail-> failed', 'completed -advance-> running'],
  },
  'support ticket': {
    machine: TICKET as unknown as Promised['machine'],
    table: 'support_tickets',
    transitions: ['ask', 'answer', 'resolve', 'close'],
    terminal: ['closed'],
    edges: ['open', 'pending', 'resolved'].flatMap((state) => [
      `${state} -ask-> open`,
      `${state} -answer-> pending`,
      `${state} -resolve-> resolved`,
      `${state} -close-> closed`,
    ]),
  },
  customers: {
    machine: CUSTOMER,
    table: 'customers',
    transitions: ['beginErasure', 'erase', 'return'],
    terminal: [],
    edges: ['active -beginErasure-> erasing', 'erasing -erase-> erased', 'erased -return-> active'],
  },
};
/** Projections of an object's state. They have no machine of their own. */
const PROJECTED = ['entitlements', 'metered_sessions'];

const codeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return error instanceof ApiError ? `${error.status} ${error.code}` : String(error);
  }
  return 'nothing thrown';
};

describe.each(Object.entries(PROMISES))('state machine: %s', (_, { machine, transitions, terminal, edges }) => {
  const pairs = machine.states.flatMap((state) => transitions.map((transition) => ({ state, transition })));

  it('the machine allows exactly the listed transitions', () => {
    const found = pairs
      .filter(({ state, transition }) => machine.can(state, transition))
      .map(({ state, transition }) => `${state} -${transition}-> ${machine.next(state, transition)}`);
    expect(found.sort()).toEqual([...edges].sort());
  });

  it('any other transition throws 409 state_conflict with state and transition', () => {
    const refused = pairs.filter(({ state, transition }) => !edges.some((edge) => edge.startsWith(`${state} -${transition}->`)));
    expect(refused.length).toBe(pairs.length - edges.length);
    for (const { state, transition } of refused) {
      expect(machine.can(state, transition)).toBe(false);
      expect(
        codeOf(() => machine.next(state, transition)),
        `${state} ${transition}`,
      ).toBe('409 state_conflict');
      expect(() => machine.next(state, transition)).toThrow(expect.objectContaining({ options: { meta: { state, transition } } }));
    }
  });

  it('every transition leads to a state of the machine', () => {
    for (const edge of edges) {
      const [from, , to] = edge.split(/ -|-> /);
      expect(machine.states).toContain(from);
      expect(machine.states).toContain(to);
    }
  });

  it('no transition leaves a terminal state', () => {
    expect(machine.states.filter((state) => machine.isTerminal(state))).toEqual(terminal);
    for (const state of terminal) for (const transition of transitions) expect(machine.can(state, transition)).toBe(false);
  });
});

describe('status columns', () => {
  const migrations = import.meta.glob<string>('../../migrations/*.sql', { query: '?raw', import: 'default', eager: true });
  /** States of each table by the last migration that lists them. */
  const lists = new Map<string, string[]>();
  for (const path of Object.keys(migrations).sort()) {
    for (const [, table, list] of migrations[path]!.matchAll(/CONSTRAINT "(\w+)_status" CHECK\s*\(status IN \(([^)]*)\)\)/g))
      lists.set(
        table!,
        list!.split(',').map((state) => state.trim().replace(/^'|'$/g, '')),
      );
  }

  it.each(Object.values(PROMISES))('the CHECK of $table lists the states of its machine', ({ machine, table }) => {
    expect(lists.get(table)).toEqual([...machine.states]);
  });

  it('every table with a status has a state machine or is a projection', () => {
    expect([...lists.keys()].sort()).toEqual([...Object.values(PROMISES).map(({ table }) => table), ...PROJECTED].sort());
    const created = Object.values(migrations).flatMap((sql) => sql.split('--> statement-breakpoint'));
    for (const statement of created.filter((sql) => /^\s*CREATE TABLE/.test(sql) && /`status` text/.test(sql)))
      expect(statement, 'a table with a text status without CHECK').toMatch(/CHECK\s*\(status IN/);
  });
});
