import { Mark } from '../../parts/parts.tsx';
import { formatInstant, plainName } from '../../parts/text.ts';
import { type AccountTextKey, type LetterLinkFacts, loginPathOf, type SayAccount } from '../facts.ts';
import { Form, PageTitle, PasswordField, ProblemNote } from '../parts.tsx';
import type { LetterLinkState } from './machine.ts';

export interface LetterLinkActions {
  confirm(event: Event): void;
  disown(): void;
  showPassword(event: Event): void;
}

interface LetterLinkProps {
  facts: LetterLinkFacts;
  state: LetterLinkState;
  say: SayAccount;
  /** Absent on the server: nothing can be done before the browser is there. */
  actions?: LetterLinkActions;
}

interface PageWords {
  title: AccountTextKey;
  help: AccountTextKey;
  button: AccountTextKey;
  done: AccountTextKey;
  doneHelp: AccountTextKey;
  linkUsed: AccountTextKey;
  linkOld: AccountTextKey;
}

const WORDS: Record<LetterLinkFacts['page'], PageWords> = {
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
};

export function LetterLink(props: LetterLinkProps) {
  const { facts, state, say, actions } = props;
  const words = WORDS[facts.page];
  if (state.step !== 'ready') return <Outcome {...props} />;
  return (
    <div class="panel">
      <PageTitle>{say(words.title)}</PageTitle>
      {state.account && (
        <p>
          {say('verifyAccount', {
            account: plainName(state.account.name),
            created: formatInstant(facts.locale, state.account.createdAt),
          })}
        </p>
      )}
      <p>{say(words.help)}</p>
      <ProblemNote problem={state.problem} say={say} />
      <Form submit={say(words.button)} isBusy={state.isBusy} onSubmit={actions?.confirm}>
        {facts.page === 'reset' && <PasswordField say={say} isNew onShow={actions?.showPassword} />}
      </Form>
      {facts.page === 'verify' && (
        <button type="button" class="plain-button" disabled={state.isBusy || !actions} onClick={actions?.disown}>
          {say('notMeButton')}
        </button>
      )}
    </div>
  );
}

/** How it ended, in words, and the way on. */
function Outcome({ facts, state, say }: LetterLinkProps) {
  const { step } = state;
  const words = WORDS[facts.page];
  const outcome: Record<Exclude<LetterLinkState['step'], 'ready'>, { title: AccountTextKey; help: AccountTextKey }> = {
    done: { title: words.done, help: words.doneHelp },
    disowned: { title: 'notMe', help: 'notMeHelp' },
    linkUsed: { title: 'linkUsed', help: words.linkUsed },
    linkOld: { title: 'linkOld', help: words.linkOld },
    linkNone: { title: 'linkNone', help: 'linkNoneHelp' },
  };
  if (step === 'ready') return null;
  const { title, help } = outcome[step];
  const isReset = facts.page === 'reset';
  const isNewLetter = isReset && step !== 'done';
  return (
    <div class="panel">
      <Mark kind={step === 'done' || step === 'disowned' ? 'done' : step === 'linkOld' ? 'time' : 'failed'} />
      <PageTitle>{say(title)}</PageTitle>
      <p>{say(help)}</p>
      {isNewLetter && (
        <a class="button" href={loginPathOf(facts, { form: 'forgotten' })}>
          {say('newLetter')}
        </a>
      )}
      <a class={isNewLetter ? 'plain-button' : 'button'} href={isReset ? facts.loginPath : facts.dashboardPath}>
        {say(isReset ? 'signIn' : 'toDashboard')}
      </a>
    </div>
  );
}
