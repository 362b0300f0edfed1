import { type Palette, paletteOf, SURFACES } from './colour.ts';

const variables = (palette: Palette): string =>
  `--accent:${palette.accent};--on-accent:${palette.onAccent};--accent-text:${palette.accentText};--accent-soft:${palette.accentSoft};--accent-edge:${palette.accentEdge}`;

/** The page's one style sheet, in the page itself: the first paint waits for nothing. Only checked colours are put into it. */
export const styleOf = (accentHex: string | undefined): string => `
:root{color-scheme:light dark;--page:${SURFACES.light};--card:#fff;--ink:#14171f;--soft:#566070;--line:#dfe3ea;--good:#12704a;--good-soft:#e6f4ec;--bad:#b3261e;--bad-soft:#fcedeb;${variables(paletteOf(accentHex, 'light'))}}
@media (prefers-color-scheme:dark){:root{--page:#12151b;--card:${SURFACES.dark};--ink:#f0f2f6;--soft:#a9b2c0;--line:#343b47;--good:#6fd3a4;--good-soft:#17352a;--bad:#ff9c93;--bad-soft:#3d2322;${variables(paletteOf(accentHex, 'dark'))}}}
${RULES}`;

const RULES = `*{box-sizing:border-box}
[hidden]{display:none!important}
@media (scripting:none){#panel{display:none}}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Hiragino Sans","Noto Sans JP",sans-serif;overflow-wrap:anywhere}
h1,h2,h3,p,ul,ol,dl,dd,figure{margin:0}
ul,ol{padding:0}
a{color:var(--accent-text)}
img,svg{display:block;max-width:100%}
code,.mono{font:.875em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,monospace;word-break:break-all}
:focus-visible{outline:3px solid var(--accent-text);outline-offset:3px}
h2:focus{outline:none}
.skip{position:absolute;left:-100vw}
.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem;border-radius:.5rem}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.quiet{color:var(--soft);font-size:.9375rem}
.centred{text-align:center}
.page{max-width:66rem;margin:0 auto;padding:1.5rem 1.25rem 2.5rem;display:grid;gap:1.75rem}
.brand{display:flex;align-items:center;gap:.75rem}
.brand .logo{flex:none;width:2.75rem;height:2.75rem;border-radius:.75rem;object-fit:contain;background:var(--card);border:1px solid var(--line)}
.brand .letter{flex:none;width:2.75rem;height:2.75rem;border-radius:.75rem;background:var(--accent-soft);color:var(--accent-text);display:grid;place-items:center;font-weight:650;font-size:1.125rem}
.brand strong{display:block;font-weight:600;line-height:1.3}
.brand small{color:var(--soft);font-size:.875rem}
.hero{width:100%;aspect-ratio:16/7;object-fit:cover;border-radius:1rem;background:var(--line)}
.offer{display:grid;gap:1.25rem;align-content:start}
.offer h1{font-size:1.125rem;font-weight:500;line-height:1.4;color:var(--soft)}
.offer .amount{font-size:2.75rem;line-height:1.1;font-weight:650;letter-spacing:-.025em;font-variant-numeric:tabular-nums;margin-top:.25rem}
.offer .amount span{font-size:1.125rem;font-weight:500;letter-spacing:0;color:var(--soft)}
.gets{list-style:none;display:grid;gap:.375rem}
.gets li{padding-left:1.625rem;position:relative}
.gets li::before{content:"";position:absolute;left:.25rem;top:.3em;width:.375rem;height:.6875rem;border:solid var(--accent-text);border-width:0 2px 2px 0;transform:rotate(45deg)}
.about{display:grid;gap:1.5rem;align-content:start}
.about p{max-width:34rem}
.about h2,.about h3{font-size:.9375rem;font-weight:600;margin-bottom:.5rem}
.steps{display:grid;gap:.375rem;padding-left:1.25rem;color:var(--soft);font-size:.9375rem}
.facts{display:grid;gap:.75rem;font-size:.9375rem}
.facts dt{color:var(--soft);font-size:.8125rem}
.panel{background:var(--card);border:1px solid var(--line);border-radius:1.25rem;padding:1.5rem;display:grid;gap:1.125rem;align-content:start;box-shadow:0 1px 2px rgb(16 24 40/.04),0 12px 32px -12px rgb(16 24 40/.12)}
.panel h2{font-size:1.25rem;line-height:1.3;font-weight:650;letter-spacing:-.01em}
.panel h3{font-size:.8125rem;font-weight:600;color:var(--soft)}
.way{display:grid;gap:.625rem}
.way+.way{border-top:1px solid var(--line);padding-top:1.125rem}
.wallets,.in-wallet{list-style:none;display:grid;gap:.5rem}
button,.button,.plain-button{font:inherit;cursor:pointer;touch-action:manipulation}
.button,.plain-button{display:block;width:100%;min-height:3rem;padding:.75rem 1rem;border-radius:.875rem;text-align:center;text-decoration:none;font-weight:600;line-height:1.4}
.button{background:var(--accent);color:var(--on-accent);border:1px solid var(--accent-edge)}
.plain-button{background:transparent;color:var(--ink);border:1px solid var(--line)}
.plain-button:hover{border-color:var(--soft)}
.button:hover{filter:brightness(1.04)}
.link-button{background:none;border:0;padding:.25rem;min-height:1.75rem;color:var(--accent-text);text-decoration:underline;justify-self:center}
.wallet{width:100%;min-height:3.5rem;display:flex;align-items:center;gap:.75rem;padding:.625rem .875rem;border-radius:.875rem;border:1px solid var(--line);background:var(--card);color:var(--ink);text-align:left;font-weight:600}
.wallet:hover:not(:disabled){border-color:var(--accent-edge);background:var(--accent-soft)}
.wallet img{border-radius:.5rem;flex:none}
.wallet-name{flex:1}
.wallet .go{color:var(--accent-text)}
.wallet-only{background:var(--accent);color:var(--on-accent);border-color:var(--accent-edge)}
.wallet-only:hover:not(:disabled){background:var(--accent);filter:brightness(1.04)}
.wallet-only .go{color:inherit}
.wallet-demo{border-style:dashed;border-color:var(--soft)}
.demo-note{margin-top:.25rem;font-size:.8125rem;color:var(--soft)}
.tag{font-size:.75rem;font-weight:500;color:var(--soft);max-width:9rem;text-align:right}
button:disabled{cursor:default}
.button:disabled{background:var(--line);color:var(--soft);border-color:var(--line);filter:none}
.plain-button:disabled{color:var(--soft)}
.wallet:disabled{background:var(--page);color:var(--soft)}
.qr{background:#fff;border:1px solid var(--line);border-radius:1rem;padding:.75rem;justify-self:center;width:min(100%,17.5rem)}
.qr path{fill:#0b0d12}
.time-left{display:flex;justify-content:space-between;gap:1rem;background:var(--page);border-radius:.75rem;padding:.5rem .875rem;font-size:.9375rem;color:var(--soft)}
.time-left [role=timer]{font-variant-numeric:tabular-nums;color:var(--ink);font-weight:600}
.time-short [role=timer]{color:var(--bad)}
.problem{background:var(--bad-soft);border-radius:.875rem;padding:.75rem 1rem;font-size:.9375rem}
.problem strong{color:var(--bad);font-weight:650}
.recognised{background:var(--accent-soft);border-radius:.75rem;padding:.5rem .875rem;font-size:.9375rem}
.assets{border:0;margin:0;padding:0;display:flex;gap:.5rem;flex-wrap:wrap}
.assets legend{font-size:.8125rem;font-weight:600;color:var(--soft);padding:0;margin-bottom:.5rem}
.assets label{flex:1;display:flex;gap:.5rem;align-items:center;border:1px solid var(--line);border-radius:.75rem;padding:.625rem .875rem}
.assets label:has(:checked){border-color:var(--accent-edge);background:var(--accent-soft)}
.assets input{accent-color:var(--accent-text)}
.quote{display:grid;gap:.125rem}
.quote strong{font-size:1.25rem}
.quote span{color:var(--soft);font-size:.875rem}
details summary{cursor:pointer;color:var(--accent-text);font-size:.9375rem;font-weight:500;padding:.25rem 0}
details[open]>*+*{margin-top:.75rem}
.copies{display:grid;gap:.625rem}
.copies dt{font-size:.8125rem;color:var(--soft)}
.copies dd{display:flex;gap:.75rem;align-items:center;justify-content:space-between}
.copies .value{font:.875rem/1.45 ui-monospace,Menlo,Consolas,monospace;word-break:break-all}
.copy,.signature-form button{flex:none;min-height:2.25rem;padding:.25rem .75rem;border-radius:.625rem;border:1px solid var(--line);background:var(--card);color:var(--ink);font-size:.875rem}
.signature-form{display:grid;gap:.375rem;font-size:.875rem}
.signature-form div{display:flex;gap:.5rem}
.signature-form input{flex:1;min-width:0;font:inherit;padding:.25rem .625rem;border-radius:.625rem;border:1px solid var(--soft);background:var(--card);color:var(--ink)}
.mark{fill:none;stroke-width:3;stroke-linecap:round;stroke-linejoin:round}
.mark circle{stroke:none}
.mark-done{stroke:var(--good)}.mark-done circle{fill:var(--good-soft)}
.mark-failed{stroke:var(--bad)}.mark-failed circle{fill:var(--bad-soft)}
.mark-time{stroke:var(--soft)}.mark-time circle{fill:var(--page)}
.step-confirmed,.step-failed,.step-expired,.step-late,.step-closing,.step-seen,.step-sending,.step-waiting,.step-connecting{padding-block:2rem;text-align:center;justify-items:center}
.step-confirmed>*,.step-failed>*,.step-expired>*,.step-late>*{max-width:100%}
.step-confirmed h2{font-size:1.75rem}
.spinner{width:2.5rem;height:2.5rem;border-radius:50%;border:3px solid var(--line);border-top-color:var(--accent-edge);animation:turn .9s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
.notice{background:var(--card);border:1px solid var(--line);border-radius:1.25rem;padding:1.5rem;display:grid;gap:.5rem}
.notice h2{font-size:1.125rem;font-weight:650}
footer{color:var(--soft);font-size:.875rem;display:grid;gap:.75rem;padding-top:1.25rem;border-top:1px solid var(--line)}
footer ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem}
footer a{display:inline-block;padding:.25rem 0;color:inherit}
footer [aria-current]{color:var(--ink);font-weight:600;display:inline-block;padding:.25rem 0}
.receipt{max-width:44rem}
.receipt .sheet{background:var(--card);border:1px solid var(--line);border-radius:1.25rem;padding:1.5rem;display:grid;gap:1.25rem}
.receipt .bought{font-size:1rem;font-weight:500;color:var(--soft)}
.panel h1{font-size:1.5rem;line-height:1.3;font-weight:650}
.verdict{display:flex;gap:1rem;align-items:start;border-radius:1rem;padding:1rem 1.125rem}
.verdict h1{font-size:1.125rem;font-weight:650;line-height:1.35}
.verdict.good{background:var(--good-soft)}.verdict.bad{background:var(--bad-soft)}
.verdict .mark{flex:none;width:2rem;height:2rem}
.receipt .amount{font-size:2.25rem;font-weight:650;letter-spacing:-.02em;line-height:1.15;font-variant-numeric:tabular-nums}
.receipt section h2{font-size:1.125rem;font-weight:650;margin-bottom:.75rem}
.receipt section{border-top:1px solid var(--line);padding-top:1.25rem}
.receipt .how{padding-left:1.25rem;display:grid;gap:.625rem;font-size:.9375rem}
.receipt .how code{display:block;background:var(--page);border-radius:.5rem;padding:.5rem .75rem;margin-top:.25rem}
@media (min-width:30rem){.page{padding-inline:2rem}.panel,.receipt .sheet{padding:2rem}}
@media (min-width:56rem){
.page.two{grid-template-columns:minmax(0,1fr) 26rem;column-gap:4rem;row-gap:2rem;padding-top:4rem;grid-template-areas:"offer pay" "about pay" "foot foot";grid-template-rows:auto 1fr auto}
.two .offer{grid-area:offer}.two .about{grid-area:about}.two .pay{grid-area:pay}.two footer{grid-area:foot}
.offer .amount{font-size:3.5rem}
.receipt{padding-top:4rem}
.receipt .facts{grid-template-columns:1fr 1fr;gap:1rem 2rem}
.receipt .facts .wide{grid-column:1/-1}
}
@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}.spinner{border-top-color:var(--line);border-style:dotted}}
@media (forced-colors:active){.button,.wallet,.panel{border:1px solid}}
@media print{footer,.how,.skip{display:none}body{background:#fff}}`;
