/** What a person may do when a wallet asks, as a button each; the first is the obvious one. */
export interface WalletDialog<Deed extends string> {
  title: string;
  ask: string;
  /** What is asked for, as a name and a value each. */
  rows?: readonly (readonly [name: string, value: string])[];
  buttons: readonly (readonly [Deed, string])[];
  /** What the Escape key does: it closes a wallet's window, so its person declined. */
  onEscape: Deed;
}

/** Opens the window of a wallet that the page brings along. Calls `onDeed` with each button pressed, until it answers null: done. */
export function openWalletDialog<Deed extends string>(
  { title, ask, rows = [], buttons, onEscape }: WalletDialog<Deed>,
  onDeed: (deed: Deed) => Promise<string | null>,
): void {
  const dialog = document.createElement('dialog');
  dialog.className = 'own-wallet';
  const add = (tag: string, words: string, className = '', parent: HTMLElement = dialog) => {
    const element = document.createElement(tag);
    element.textContent = words;
    element.className = className;
    return parent.appendChild(element);
  };
  add('h2', title).id = 'own-wallet-title';
  dialog.setAttribute('aria-labelledby', 'own-wallet-title');
  add('p', ask);
  if (rows.length > 0) {
    const list = add('dl', '', 'facts');
    for (const [name, value] of rows) {
      const row = add('div', '', '', list);
      add('dt', name, '', row);
      add('dd', value, '', row);
    }
  }
  const problem = add('p', '', 'problem');
  problem.role = 'alert';
  problem.hidden = true;
  const made: HTMLButtonElement[] = [];
  const act = async (deed: Deed) => {
    for (const button of made) button.disabled = true;
    const trouble = await onDeed(deed);
    for (const button of made) button.disabled = false;
    if (trouble === null) return dialog.remove();
    problem.textContent = trouble;
    problem.hidden = false;
  };
  for (const [index, [deed, words]] of buttons.entries()) {
    const button = add('button', words, index === 0 ? 'button' : 'plain-button') as HTMLButtonElement;
    button.type = 'button';
    button.addEventListener('click', () => void act(deed));
    made.push(button);
  }
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    if (!made[0]!.disabled) void act(onEscape);
  });
  document.body.append(dialog);
  dialog.showModal();
}

/** What wallets throw where a person declines. */
export const newRejection = (): Error => Object.assign(new Error('User rejected the request.'), { code: 4001 });
