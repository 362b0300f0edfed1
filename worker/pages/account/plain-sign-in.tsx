import type { Failure } from '../parts/answer.ts';
import { type LoginFacts, type Problem, problemOf, type SayAccount } from './facts.ts';
import { ProblemNote } from './parts.tsx';

/** Sign-in that a form without a script sent, and its refusal. `factor`: the second step that it asks for. */
export interface PostedSignIn {
  status: number;
  next: string;
  failure: Pick<Failure, 'code' | 'meta'>;
  factor?: { ticket: string; methods: readonly string[] | null };
}

/** The first step of a person with a factor was right, so it is no problem. */
function problemOfPosted(facts: LoginFacts, { failure, factor }: PostedSignIn): Problem | null {
  if (factor && failure.code === 'factor_required') return null;
  return problemOf(facts, { ...failure, retryAfterMs: null }, factor ? 'pCode' : 'pWrong');
}

interface PlainTerms {
  facts: LoginFacts;
  say: SayAccount;
  posted: PostedSignIn | undefined;
}

/** Sign-in by password for browsers without scripts. Its labels hold their fields, because the hidden panel has the same ids. */
export const PlainSignIn = ({ facts, say, posted }: PlainTerms) => (
  <div class="panel">
    <h1>{say(posted?.factor ? 'secondStep' : 'signIn')}</h1>
    {facts.notice && <p class="recognised">{say(facts.notice)}</p>}
    {posted && <ProblemNote problem={problemOfPosted(facts, posted)} say={say} />}
    <form class="fields" method="post" action="/login">
      <input type="hidden" name="next" value={posted?.next ?? facts.next} />
      {posted?.factor ? (
        <label class="field">
          {say('code')}
          <input name="code" required autocomplete="one-time-code" />
          <input type="hidden" name="ticket" value={posted.factor.ticket} />
        </label>
      ) : (
        <>
          <label class="field">
            {say('email')}
            <input name="email" type="email" required autocomplete="username" />
          </label>
          <label class="field">
            {say('password')}
            <input name="password" type="password" required autocomplete="current-password" />
          </label>
        </>
      )}
      <button type="submit" class="button">
        {say('signIn')}
      </button>
    </form>
    <p class="quiet">{say('needsScriptForRest')}</p>
  </div>
);
