/** Buttons of a wallet dialog. The first is the default. */
export interface WalletDialog<Deed extends string> {
  title: string;
  ask: string;
  rows?: readonly (readonly [name: string, value: string])[];
  buttons: readonly (readonly [Deed, string])[];
  /** Escape closes the window, which declines. */
  onEscape: Deed;
}

/** Opens the wallet dialog. Calls `onDeed` with each pressed button and closes once it returns null. */
export function openWalletDialog<Deed extends string>(
  { title, ask, rows = [], buttons, onEscape }: WalletDialog<Deed>,
  onDeed: (deed: Deed) => Promise<string | null>,
): void {
  const dialog = document.createElement('dialog');
  dialog.className = 'own-wallet';
  const add = (tag: string, text: string, className = '', parent: HTMLElement = dialog) => {
    const element = document.createElement(tag);
    element.textContent = text;
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
  for (const [index, [deed, text]] of buttons.entries()) {
    const button = add('button', text, index === 0 ? 'button' : 'plain-button') as HTMLButtonElement;
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

export const newRejection = (): Error => Object.assign(new Error('User rejected the request.'), { code: 4001 });
