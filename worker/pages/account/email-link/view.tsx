import { Mark } from '../../parts/parts.tsx';
import { formatInstant, plainName } from '../../parts/text.ts';
import { type AccountTextKey, type EmailLinkFacts, loginPathOf, type SayAccount } from '../facts.ts';
import { Form, PageTitle, PasswordField, ProblemNote } from '../parts.tsx';
import type { EmailLinkState, Invited } from './machine.ts';

export interface EmailLinkActions {
  confirm(event: Event): void;
  disown(): void;
  showPassword(event: Event): void;
}

interface EmailLinkProps {
  facts: EmailLinkFacts;
  state: EmailLinkState;
  say: SayAccount;
  actions?: EmailLinkActions;
}

interface PageTexts {
  title: AccountTextKey;
  help: AccountTextKey;
  button: AccountTextKey;
  done: AccountTextKey;
  doneHelp: AccountTextKey;
  linkUsed: AccountTextKey;
  linkOld: AccountTextKey;
}

const TEXTS: Record<EmailLinkFacts['page'], PageTexts> = {
  verify: {
    title: 'verifyTitle',
    help: 'verifyHelp',
    button: 'verifyButton',
    done: 'verified',
    doneHelp: 'verifiedHelp',
    linkUsed: 'linkUsedVerify',
    linkOld: 'linkOldVerify',
  },
  reset: {
    title: 'resetTitle',
    help: 'resetHelp',
    button: 'resetButton',
    done: 'resetDone',
    doneHelp: 'resetDoneHelp',
    linkUsed: 'linkUsedReset',
    linkOld: 'linkOldReset',
  },
  sign_in: {
    title: 'linkInTitle',
    help: 'linkInHelp',
    button: 'linkInButton',
    done: 'linkInDone',
    doneHelp: 'linkInHelp',
    linkUsed: 'linkUsedSignIn',
    linkOld: 'linkOldSignIn',
  },
  invitation: {
    title: 'inviteTitle',
    help: 'inviteHelp',
    button: 'inviteButton',
    done: 'inviteDone',
    doneHelp: 'inviteDone',
    linkUsed: 'linkUsedInvite',
    linkOld: 'linkOldInvite',
  },
  not_me: {
    title: 'disputeTitle',
    help: 'disputeHelp',
    button: 'disputeButton',
    done: 'disputeDone',
    doneHelp: 'disputeDoneHelp',
    linkUsed: 'linkUsedDispute',
    linkOld: 'linkUsedDispute',
  },
};

const PARTS: Readonly<Record<string, AccountTextKey>> = {
  email: 'partEmail',
  password: 'partPassword',
  sessions: 'partSessions',
  keys: 'partKeys',
  endpoints: 'partEndpoints',
  providers: 'partProviders',
  passkeys: 'partPasskeys',
  totp: 'partTotp',
  recovery_codes: 'partCodes',
  wallets: 'partWallets',
  members: 'partMembers',
  invitations: 'partInvitations',
  transfer: 'partTransfer',
};

const Invitation = ({ invited, say }: { invited: Invited; say: SayAccount }) => (
  <>
    <p>{say('inviteFrom', { inviter: plainName(invited.inviter), account: plainName(invited.account) })}</p>
    <p>{say('inviteRole', { role: plainName(invited.role) })}</p>
  </>
);

export function EmailLink(props: EmailLinkProps) {
  const { facts, state, say, actions } = props;
  const texts = TEXTS[facts.page];
  if (state.step !== 'ready') return <Outcome {...props} />;
  return (
    <div class="panel">
      <PageTitle>{say(texts.title)}</PageTitle>
      {state.account && (
        <p>
          {say('verifyAccount', {
            account: plainName(state.account.name),
            created: formatInstant(facts.locale, state.account.createdAt),
          })}
        </p>
      )}
      {state.invited && <Invitation invited={state.invited} say={say} />}
      {state.disputed && (
        <>
          <p>
            {say('disputeOf', {
              account: plainName(state.disputed.account),
              at: formatInstant(facts.locale, state.disputed.at),
            })}
          </p>
          <ul>
            {state.disputed.will.map((part) => (
              <li>{PARTS[part] ? say(PARTS[part]) : part}</li>
            ))}
          </ul>
        </>
      )}
      <p>{say(texts.help, { email: plainName(state.invited?.email ?? '…') })}</p>
      <ProblemNote problem={state.problem} say={say} />
      <Form submit={say(texts.button)} isBusy={state.isBusy} onSubmit={actions?.confirm}>
        {facts.page === 'reset' && (
          <>
            <PasswordField say={say} isNew onShow={actions?.showPassword} />
            <label class="check">
              <input type="checkbox" name="end_others" value="true" />
              {say('endOthers')}
            </label>
          </>
        )}
      </Form>
      {facts.page === 'invitation' && (
        <a class="plain-button" href={loginPathOf(facts, { form: 'registering', next: facts.loginPath.replace('/login', '/invitation') })}>
          {say('register')}
        </a>
      )}
      {facts.page === 'verify' && (
        <button type="button" class="plain-button" disabled={state.isBusy || !actions} onClick={actions?.disown}>
          {say('notMeButton')}
        </button>
      )}
    </div>
  );
}

function Outcome({ facts, state, say }: EmailLinkProps) {
  const { step } = state;
  const texts = TEXTS[facts.page];
  const outcome: Record<Exclude<EmailLinkState['step'], 'ready'>, { title: AccountTextKey; help: AccountTextKey }> = {
    done: { title: texts.done, help: texts.doneHelp },
    disowned: { title: 'notMe', help: 'notMeHelp' },
    linkUsed: { title: 'linkUsed', help: texts.linkUsed },
    linkOld: { title: 'linkOld', help: texts.linkOld },
    linkNone: { title: 'linkNone', help: 'linkNoneHelp' },
  };
  if (step === 'ready') return null;
  const { title, help } = outcome[step];
  const isNewEmail = facts.page === 'reset' && step !== 'done';
  const leadsToSignIn = facts.page === 'reset' || facts.page === 'not_me' || (facts.page === 'sign_in' && step !== 'done');
  return (
    <div class="panel">
      <Mark kind={step === 'done' || step === 'disowned' ? 'done' : step === 'linkOld' ? 'time' : 'failed'} />
      <PageTitle>{say(title)}</PageTitle>
      <p>{say(help)}</p>
      {isNewEmail && (
        <a class="button" href={loginPathOf(facts, { form: 'forgotten' })}>
          {say('newLetter')}
        </a>
      )}
      <a class={isNewEmail ? 'plain-button' : 'button'} href={leadsToSignIn ? facts.loginPath : facts.dashboardPath}>
        {say(leadsToSignIn ? 'signIn' : 'toDashboard')}
      </a>
    </div>
  );
}
