import type { Code, Root, RootContent } from 'mdast';

/** Two blocks that do the same: commands for a shell, and the same with the SDK. */
export interface Twins {
  shell: Code;
  sdk: Code;
}

const CALLS_API = /(?:^|[\s$(])(?:api|curl) /;

/** Twins at a position: commands that call the API, directly followed by TypeScript. */
function twinsAt(nodes: readonly RootContent[], index: number): Twins | null {
  const [shell, sdk] = nodes.slice(index, index + 2);
  if (shell?.type !== 'code' || sdk?.type !== 'code') return null;
  return shell.lang === 'sh' && sdk.lang === 'ts' && CALLS_API.test(shell.value) ? { shell, sdk } : null;
}

export const twinsIn = ({ children }: Root): Twins[] => children.flatMap((_, index) => twinsAt(children, index) ?? []);

/** Element that Markdown has no node for. */
const element = (hName: string, hProperties: object, children: object[] = []): object => ({
  type: hName,
  data: { hName, hProperties },
  children,
});
const text = (value: string): object => ({ type: 'text', value });

/** Group of radio buttons, which need no script, and the block of each. */
function tabsOf({ shell, sdk }: Twins, n: number): RootContent {
  const tabs = [
    { name: 'curl', block: shell },
    { name: 'SDK', block: sdk },
  ].map((tab) => ({ ...tab, id: `example-${n}-${tab.name.toLowerCase()}` }));
  return element('fieldset', { className: ['tabs'] }, [
    element('legend', { className: ['unseen'] }, [text('Example with')]),
    ...tabs.flatMap(({ id, name }, index) => [
      element('input', { type: 'radio', name: `example-${n}`, id, value: name, checked: index === 0 }),
      element('label', { htmlFor: id }, [text(name)]),
    ]),
    ...tabs.map(({ name, block }) => element('div', { className: ['tab'], dataName: name }, [block])),
  ]) as RootContent;
}

/** Puts twins into tabs. */
export const useTabs = () => (tree: Root) => {
  const nodes: RootContent[] = [];
  for (let index = 0, n = 0; index < tree.children.length; index++) {
    const twins = twinsAt(tree.children, index);
    nodes.push(twins ? tabsOf(twins, ++n) : tree.children[index]!);
    if (twins) index++;
  }
  tree.children = nodes;
};
