import { assert } from '#core/errors.ts';
import { type AccountId, SERVICE_ACCOUNT_ID, type TicketId } from '#core/ids.ts';
import { DAY, SECOND } from '#core/time.ts';
import { confirmRefund } from '#features/payments/refunds/record-refund.ts';
import { prepareRefund } from '#features/payments/refunds/refund.ts';
import { SILENT_MS } from '#features/support/close-silent.ts';
import type { Thread } from '#features/support/resource.ts';
import { addMessage, openTicket, resolveTicket } from '#features/support/ticket.ts';
import type { Actor } from '#platform/context.ts';
import { answerOnce, type StoreAnswer, skipStoring } from '#platform/db/once.ts';
import type { EventType } from '#rules/events.ts';
import { planVouchedSignature, send } from '../wallet.ts';
import { advanceStep, paymentIn, readAnswer } from './actions.ts';
import { requestOf } from './agent.ts';
import { done, type ScriptStage, type Step } from './script.ts';

/** Runs a verb that stores its answer in its own batch: repeated, it returns the same answer and does nothing. */
async function runOnce<T>(
  stage: ScriptStage,
  key: string,
  run: (storeAnswer: StoreAnswer<T>) => Promise<T>,
  toText: (result: T) => string,
): Promise<string> {
  const answer = await answerOnce(stage.scope, requestOf(stage, key), run, (result) => ({ status: 200, body: { answer: toText(result) } }));
  return (JSON.parse(answer.body) as { answer: string }).answer;
}

export const refundSteps: Step[] = [
  {
    action: 'refund',
    run: async (stage) => {
      const { scope, notes } = stage;
      const payment = await paymentIn(stage);
      const run = (storeAnswer: StoreAnswer<{ transaction: string }>) =>
        prepareRefund(scope, payment, { revokesAccess: false, storeAnswer });
      const transaction = await runOnce(stage, 'refund', run, (prepared) => prepared.transaction);
      const { txSignature, writes } = await planVouchedSignature(scope, transaction);
      assert(txSignature !== null, 'the chain takes a refund that was just prepared');
      notes.refund = await send(scope, { signature: txSignature, writes });
      return done('sent');
    },
  },
  {
    action: 'refund_confirm',
    run: (stage) =>
      readAnswer(async () => {
        const payment = await paymentIn(stage);
        const { status } = await confirmRefund(stage.scope, payment, { txSignature: stage.notes.refund!, storeAnswer: skipStoring });
        return status;
      }),
    until: ['payment.refunded'],
  },
];

const actorOf = ({ accountId, isStaff }: Pick<Actor, 'accountId' | 'isStaff'>): Actor => ({
  accountId,
  keyId: null,
  livemode: false,
  permissions: ['read', 'execute'],
  plan: 'free',
  personId: accountId,
  role: 'owner',
  isStaff,
  via: 'jwt',
  signIn: null,
});
const merchantIn = ({ session }: ScriptStage): Actor => actorOf({ accountId: session.merchantId, isStaff: false });
const STAFF = actorOf({ accountId: SERVICE_ACCOUNT_ID as AccountId, isStaff: true });

const ticketStep = (
  action: string,
  until: EventType[],
  call: (stage: ScriptStage, storeAnswer: StoreAnswer<Thread>) => Promise<Thread>,
): Step => ({
  action,
  run: (stage) =>
    readAnswer(async () => {
      const answer = await runOnce(
        stage,
        action,
        (storeAnswer: StoreAnswer<Thread>) => call(stage, storeAnswer),
        ({ ticket }) => `${ticket.id} ${ticket.status}`,
      );
      const [id, status] = answer.split(' ');
      stage.notes.ticket = id!;
      return status;
    }),
  until,
});

const QUESTION = {
  subject: 'Where is my payment?',
  body: 'A buyer says that they have paid.',
  category: 'payment' as const,
  paymentId: null,
  membershipId: null,
};

const messageStep = (action: string, body: string, writerOf: (stage: ScriptStage) => Actor): Step =>
  ticketStep(action, ['support.message_added'], (stage, storeAnswer) =>
    addMessage(stage.scope, writerOf(stage), { ticketId: stage.notes.ticket as TicketId, body, storeAnswer }),
  );

export const ticketSteps: Step[] = [
  ticketStep('open_ticket', ['support.ticket_created'], (stage, storeAnswer) =>
    openTicket(stage.scope, merchantIn(stage), QUESTION, storeAnswer),
  ),
  messageStep('answer_as_staff', 'Which transaction is it?', () => STAFF),
  messageStep('answer', 'It has arrived, thank you.', merchantIn),
  ticketStep('resolve_as_staff', ['support.ticket_updated'], (stage, storeAnswer) =>
    resolveTicket(stage.scope, STAFF, stage.notes.ticket as TicketId, storeAnswer),
  ),
  advanceStep(SILENT_MS + DAY + SECOND),
];
