import { type Palette, paletteOf, SURFACES } from './colour.ts';

const variables = (palette: Palette): string =>
  `--accent:${palette.accent};--on-accent:${palette.onAccent};--accent-text:${palette.accentText};--accent-soft:${palette.accentSoft};--accent-edge:${palette.accentEdge}`;

/** Inline style sheet, so that the first paint waits for nothing. Only validated colours are inserted. */
export const styleOf = (accentHex: string | undefined): string => `
:root{color-scheme:light dark;--page:${SURFACES.light};--card:#fff;--ink:#14171f;--soft:#566070;--line:#dfe3ea;--good:#12704a;--good-soft:#e6f4ec;--bad:#b3261e;--bad-soft:#fcedeb;--test:#7a4a00;--test-soft:#fff1d2;${variables(paletteOf(accentHex, 'light'))}}
@media (prefers-color-scheme:dark){:root{--page:#12151b;--card:${SURFACES.dark};--ink:#f0f2f6;--soft:#a9b2c0;--line:#343b47;--good:#6fd3a4;--good-soft:#17352a;--bad:#ff9c93;--bad-soft:#3d2322;--test:#f3c470;--test-soft:#3a2c12;${variables(paletteOf(accentHex, 'dark'))}}}
${RULES}`;

const RULES = `*{box-sizing:border-box}
[hidden]{display:none!important}
@media (scripting:none){#panel{display:none}}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Hiragino Sans","Noto Sans JP",sans-serif;overflow-wrap:anywhere}
h1,h2,h3,p,ul,ol,dl,dd,figure{margin:0}
h1{line-height:1.25}
h1,.button,.plain-button,.link-button{text-wrap:balance}
ul,ol{padding:0}
a{color:var(--accent-text)}
img,svg{display:block;max-width:100%}
.address{display:inline-block;max-width:17.5em;font:.875rem/1.6 ui-monospace,"SF Mono",Menlo,Consolas,monospace}
.address span{display:inline-block;margin-right:.45em}
.address :first-child,.address :last-child{font-weight:700}
code,.mono{font:.875em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,monospace;word-break:break-all}
:focus-visible{outline:3px solid var(--accent-text);outline-offset:3px}
h1:focus,h2:focus,h3:focus{outline:none}
.skip{position:absolute;left:-100vw}
.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem;border-radius:.5rem}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
:lang(ja){word-break:auto-phrase}
.quiet{color:var(--soft);font-size:.9375rem}
.centred{text-align:center}
.page{max-width:66rem;margin:0 auto;padding:1.5rem 1.25rem 2.5rem;display:grid;gap:1.75rem}
.brand{display:flex;align-items:center;gap:.75rem}
.brand .logo{grid-area:1/1;width:2.75rem;height:2.75rem;border-radius:.75rem;object-fit:contain;background:var(--card);border:1px solid var(--line)}
.brand .letter{flex:none;width:2.75rem;height:2.75rem;border-radius:.75rem;background:var(--accent-soft);color:var(--accent-text);display:grid;grid-template-areas:"one";place-items:center;font-weight:650;font-size:1.125rem}
.brand strong{display:block;font-weight:600;line-height:1.3}
.brand small{color:var(--soft);font-size:.875rem}
.hero{width:100%;height:auto;aspect-ratio:16/7;object-fit:cover;border-radius:1rem;background:var(--line)}
.offer{display:grid;gap:1.25rem;align-content:start}
.price{container-type:inline-size}
.price h1,.price h2{font-size:1.375rem;font-weight:600;line-height:1.35;text-wrap:balance}
.amount{font-size:clamp(2.5rem,9.5cqi,3.25rem);line-height:1.15;font-weight:650;letter-spacing:-.025em;font-variant-numeric:tabular-nums;overflow-wrap:normal;margin-top:.375rem;display:flex;flex-wrap:wrap;align-items:baseline}
.amount.long{font-size:clamp(1.5rem,8cqi,2.75rem)}
.amount.longest{font-size:clamp(1rem,5.8cqi,2.25rem)}
.amount span{font-size:1.125rem;font-weight:500;letter-spacing:0;color:var(--soft)}
.amount .badge{margin:.25rem 0;align-self:center}
.amount span:not(.badge){margin-right:.75rem}
.badge{display:inline-block;white-space:nowrap;padding:.125rem .625rem;border-radius:1rem;background:var(--test-soft);color:var(--test);font-size:.8125rem!important;font-weight:600!important;line-height:1.5}
.amount .badge{color:var(--test)}
.gets{list-style:none;display:grid;gap:.375rem}
.gets li{padding-left:1.625rem;position:relative}
.gets li::before{content:"";position:absolute;left:.25rem;top:.3em;width:.375rem;height:.6875rem;border:solid var(--accent-text);border-width:0 2px 2px 0;transform:rotate(45deg)}
.panel .gets{width:fit-content;margin:0 auto;text-align:left}
.signature a{display:block;padding:.25rem}
.about{display:grid;gap:1.5rem;align-content:start}
.description{display:flex;flex-direction:column;gap:.25rem}
.description details{order:1}
.description details:not([open]) .when-open,.description details[open] .when-closed{display:none}
.description details:not([open])+.foldable{max-height:9.3rem;overflow:hidden;-webkit-mask:linear-gradient(#000 60%,transparent);mask:linear-gradient(#000 60%,transparent)}
.about p{max-width:34rem}
.page:has(.step-confirmed,.step-done) .teaching{display:none}
.teaching{display:grid;gap:1rem}
.about h2,.about h3{font-size:.9375rem;font-weight:600;margin-bottom:.5rem}
.steps{display:grid;gap:.375rem;padding-left:1.25rem;color:var(--soft);font-size:.9375rem}
.newcomer .steps{margin-top:.5rem}.makers{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem}.makers a,.newcomer>a{display:inline-block;padding:.25rem 0}
.facts{display:grid;gap:.75rem;font-size:.9375rem}
.facts dt{color:var(--soft);font-size:.8125rem}
.panel{background:var(--card);border:1px solid var(--line);border-radius:1.25rem;padding:1.5rem;display:grid;gap:1.125rem;align-content:start;box-shadow:0 1px 2px rgb(16 24 40/.04),0 12px 32px -12px rgb(16 24 40/.12)}
.panel h2{font-size:1.25rem;line-height:1.3;font-weight:650;letter-spacing:-.01em;text-wrap:balance}
.panel p{text-wrap:pretty}
.panel h3{font-size:.8125rem;font-weight:600;color:var(--soft)}
.way{display:grid;gap:.625rem}
.way+.way{border-top:1px solid var(--line);padding-top:1.125rem}
.wallets,.in-wallet{list-style:none;display:grid;gap:.5rem}
button,.button,.plain-button{font:inherit;cursor:pointer;touch-action:manipulation}
.button,.plain-button{display:block;width:100%;min-height:3rem;padding:.75rem 1rem;border-radius:.875rem;text-align:center;text-decoration:none;font-weight:600;line-height:1.4}
.button{background:var(--accent);color:var(--on-accent);border:1px solid var(--accent-edge)}
.plain-button{background:transparent;color:var(--ink);border:1px solid var(--line)}
.plain-button:hover{border-color:var(--soft)}
.tonal-button{display:block;min-height:3rem;padding:.75rem 1rem;border-radius:.875rem;border:1px solid var(--accent-edge);background:var(--accent-soft);color:var(--accent-text);text-align:center;text-decoration:none;font-weight:600;line-height:1.4}
.button:hover{filter:brightness(1.04)}
.way-back{justify-self:center;padding:.25rem;font-size:.9375rem}
.link-button{background:none;border:0;padding:.25rem;min-height:1.75rem;color:var(--accent-text);text-decoration:underline;justify-self:center}
.wallet{width:100%;min-height:3.5rem;display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem;padding:.625rem .875rem;border-radius:.875rem;border:1px solid var(--line);background:var(--card);color:var(--ink);text-align:left;font-weight:600}
.wallet:hover:not(:disabled,[aria-disabled]){border-color:var(--accent-edge);background:var(--accent-soft)}
.wallet img{border-radius:.5rem;flex:none}
.wallet-name{flex:1;min-width:9rem}
.wallet .go,.wallet .tag{flex-basis:100%}
.wallet:has(img) :is(.go,.tag){padding-left:calc(28px + .75rem)}
.wallet .go{color:var(--accent-text);font-variant-numeric:tabular-nums}
.wallet-only{background:var(--accent);color:var(--on-accent);border-color:var(--accent-edge)}
.wallet-only:hover:not(:disabled){background:var(--accent);filter:brightness(1.04)}
.wallet-only .go{color:inherit}
.test-frame .panel,.test-frame .notice{border:2px dashed var(--test)}
.test-mark{margin-bottom:.75rem;padding:.625rem .875rem;border-radius:.875rem;background:var(--test-soft);color:var(--test);font-size:.9375rem}
.own-wallet{max-width:24rem;width:calc(100% - 2rem);border:2px dashed var(--test);border-radius:1.25rem;background:var(--card);color:var(--ink);padding:1.5rem}
.own-wallet[open]{display:grid;gap:.75rem}
.own-wallet::backdrop{background:rgb(0 0 0/.5)}
.own-wallet h2{font-size:1.25rem;line-height:1.3;font-weight:650}
.wallet-own{border-style:dashed;border-color:var(--soft)}
.own-note{margin-top:.25rem;font-size:.8125rem;color:var(--soft)}
.tag{font-size:.8125rem;font-weight:500;color:var(--soft)}
button:disabled{cursor:default}
.button:disabled{background:var(--line);color:var(--soft);border-color:var(--line);filter:none}
.plain-button:disabled{color:var(--soft)}
.wallet:disabled,.wallet[aria-disabled]{background:var(--page);color:var(--soft)}
.wallet[aria-disabled] img{opacity:.6}
.qr{background:#fff;border:1px solid var(--line);border-radius:1rem;padding:.75rem;justify-self:center;width:min(100%,17.5rem)}
.qr path{fill:#0b0d12}
.poster{text-align:center;justify-items:center}
.poster .qr{width:min(100%,22rem)}
.poster .amount{justify-content:center}
.time-left{display:flex;justify-content:space-between;gap:1rem;background:var(--page);border-radius:.75rem;padding:.5rem .875rem;font-size:.9375rem;color:var(--soft)}
.timer{font-variant-numeric:tabular-nums;color:var(--ink);font-weight:600}
.bar{width:100%;height:.375rem;border:0;border-radius:1rem;overflow:hidden;background:var(--line);appearance:none;-webkit-appearance:none}
.bar::-webkit-progress-bar{background:var(--line)}
.bar::-webkit-progress-value{background:var(--accent-edge)}
.bar::-moz-progress-bar{background:var(--accent-edge)}
.bar-short::-webkit-progress-value{background:var(--bad)}
.bar-short::-moz-progress-bar{background:var(--bad)}
.time-left{flex-wrap:wrap;width:100%}
.assets:disabled label{color:var(--soft)}
.time-short{color:var(--bad)}
.problem{background:var(--bad-soft);border-radius:.875rem;padding:.75rem 1rem;font-size:.9375rem}
.problem strong{color:var(--bad);font-weight:650}
.problem.unclear{background:var(--test-soft)}
.problem.unclear strong{color:var(--test)}
.recognised{background:var(--accent-soft);border-radius:.75rem;padding:.5rem .875rem;font-size:.9375rem}
.assets{border:0;margin:0;padding:0;display:flex;gap:.5rem;flex-wrap:wrap}
.assets legend{font-size:.8125rem;font-weight:600;color:var(--soft);padding:0;margin-bottom:.5rem}
.assets label{flex:1;display:flex;gap:.5rem;align-items:center;border:1px solid var(--line);border-radius:.75rem;padding:.625rem .875rem}
.assets label:has(:checked){border-color:var(--accent-edge);background:var(--accent-soft)}
.assets input{accent-color:var(--accent-text)}
.asset-choice{display:grid;gap:.625rem}
.due{font-size:1.25rem;font-variant-numeric:tabular-nums}
.quote{display:grid;gap:.125rem}
.quote strong{font-size:1.5rem;line-height:1.3;font-weight:650;letter-spacing:-.01em;font-variant-numeric:tabular-nums}
.quote span{color:var(--soft);font-size:.875rem;text-wrap:balance}
.payee,.legs{width:100%;border-radius:.875rem;background:var(--page);padding:.625rem .875rem;display:grid;gap:.375rem;font-size:.875rem;text-align:left}
.payee div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem}
.payee dt,.legs dt{color:var(--soft)}
.payee dd{margin-left:auto;text-align:right}
.payee .mono{font-size:.9375rem;font-weight:600;line-height:1.45}
.legs{gap:.75rem;padding:.875rem 1rem}
.legs dd{display:grid;gap:.125rem}
.legs strong{font-size:1rem}
details summary{cursor:pointer;color:var(--accent-text);font-size:.9375rem;font-weight:500;padding:.25rem 0}
details[open]>*+*{margin-top:.75rem}
.copy-receipt{width:100%;display:grid}
.copies{display:grid;gap:.625rem}
.copies dt{font-size:.8125rem;color:var(--soft)}
.copies dd{display:flex;gap:.75rem;align-items:center;justify-content:space-between}
.copies .address{font-size:.8125rem}
.copies .address span{margin-right:.3em}
.copies .value{font:.875rem/1.45 ui-monospace,Menlo,Consolas,monospace;word-break:break-all}
.copy,.signature-form button{flex:none;min-height:2.25rem;padding:.25rem .75rem;border-radius:.625rem;border:1px solid var(--line);background:var(--card);color:var(--ink);font-size:.875rem}
.signature-form{display:grid;gap:.375rem;font-size:.875rem}
.signature-form div{display:flex;gap:.5rem}
.signature-form input{flex:1;min-width:0;font:inherit;padding:.25rem .625rem;border-radius:.625rem;border:1px solid var(--soft);background:var(--card);color:var(--ink)}
.mark{fill:none;stroke-width:3;stroke-linecap:round;stroke-linejoin:round}
.mark circle{stroke:none}
.mark-done{stroke:var(--good)}.mark-done circle{fill:var(--good-soft)}
.mark-failed{stroke:var(--bad)}.mark-failed circle{fill:var(--bad-soft)}
.mark-warn{stroke:var(--test)}.mark-warn circle{fill:var(--test-soft)}
.mark-time,.mark-nothing{stroke:var(--soft)}.mark-time circle,.mark-nothing circle{fill:var(--page)}
.step-confirmed,.step-done,.step-already,.step-cancelled,.step-failed,.step-expired,.step-late,.step-short,.step-closing,.step-seen,.step-sending,.step-waiting,.step-connecting{padding-block:2rem;text-align:center;justify-items:center}
.step-confirmed>*,.step-done>*,.step-failed>*,.step-expired>*,.step-late>*,.step-short>*{max-width:100%}
.step-confirmed h2{font-size:1.75rem}
.spinner{width:2.5rem;height:2.5rem;border-radius:50%;border:3px solid var(--line);border-top-color:var(--accent-edge);animation:turn .9s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
.notice{background:var(--card);border:1px solid var(--line);border-radius:1.25rem;padding:1.5rem;display:grid;gap:.5rem}
.notice h2{font-size:1.125rem;font-weight:650}
.panel .notice{border:0;padding:0;border-radius:0}
.entry{display:grid;gap:1rem;width:100%}
footer{color:var(--soft);font-size:.875rem;display:grid;gap:.75rem;padding-top:1.25rem;border-top:1px solid var(--line)}
footer ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem}
footer a{display:inline-block;padding:.25rem 0;color:inherit}
footer [aria-current]{color:var(--ink);font-weight:600;display:inline-block;padding:.25rem 0}
.receipt,.plain{max-width:44rem}
.narrow{max-width:30rem}.subscription,.standing{display:grid;gap:1.5rem}
.prose{display:grid;grid-template-columns:minmax(0,1fr);gap:1rem}
.prose h1{font-size:2rem;line-height:1.2;font-weight:650;letter-spacing:-.02em;text-wrap:balance}
.prose h2{font-size:1.25rem;line-height:1.3;font-weight:650;margin-top:1rem}
.prose ul,.prose ol{padding-left:1.25rem;display:grid;grid-template-columns:minmax(0,1fr);gap:.375rem}
.prose pre{margin:0;padding:.875rem 1rem;border-radius:.875rem;background:var(--card);border:1px solid var(--line);overflow-x:auto;font:.8125rem/1.6 ui-monospace,"SF Mono",Menlo,Consolas,monospace}
.prose table{border-collapse:collapse;font-size:.9375rem}
.prose td{padding:.375rem .75rem .375rem 0;border-top:1px solid var(--line);vertical-align:top}
.prose code{word-break:normal;overflow-wrap:anywhere}
.prose td:first-child{white-space:nowrap}
@media (max-width:30rem){.prose td,.prose td:first-child{display:block;white-space:normal;padding-right:0}.prose td+td{border-top:0;padding-top:0}}
.prose nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem}
.fields,.field{display:grid;gap:1rem}
.field{gap:.25rem}
.field label{font-size:.9375rem;font-weight:600;padding:0}
.field input,.field textarea{font:inherit;min-height:2.875rem;width:100%;padding:.5rem .75rem;border-radius:.625rem;border:1px solid var(--soft);background:var(--card);color:var(--ink)}
.check{display:flex;gap:.5rem;align-items:baseline;font-size:.9375rem}
.check input{accent-color:var(--accent-text)}
.transaction-steps{display:grid;gap:.625rem;padding-left:1.25rem}
.sheet{background:var(--card);border:1px solid var(--line);border-radius:1.25rem;padding:1.5rem;display:grid;gap:1.5rem;overflow:hidden;box-shadow:0 1px 2px rgb(16 24 40/.04),0 12px 32px -12px rgb(16 24 40/.12)}
.sheet .facts{gap:1rem}
.papers{display:flex;flex-wrap:wrap;gap:.625rem}
.papers .plain-button{flex:1 1 12rem}
.address-of-page{display:none}
.panel h1{font-size:1.5rem;line-height:1.3;font-weight:650}
.verdict{border-radius:.875rem;padding:.75rem 1rem;font-size:.9375rem}
.verdict summary{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:center;color:var(--ink);list-style:none}
.verdict summary::-webkit-details-marker{display:none}
.verdict h2{font-size:1rem;font-weight:650;line-height:1.35}
.verdict a{color:inherit}.how-known{text-decoration:underline;font-weight:400}
.verdict[open] .how-known{display:none}
.verdict .proof{display:grid;gap:1rem}
.verdict.good{background:var(--good-soft)}.verdict.bad{background:var(--bad-soft)}
.verdict .mark{flex:none;width:1.5rem;height:1.5rem;stroke-width:5}
.verdict.good .mark circle,.verdict.bad .mark circle{fill:var(--card)}
.sheet section{border-top:1px solid var(--line);padding-top:1.5rem;font-size:.9375rem}
.sheet section h2{font-size:1rem;font-weight:650;margin-bottom:.75rem}
.traces .facts{font-size:.875rem}
.receipt .how{padding-left:1.25rem;display:grid;gap:.625rem}
.receipt .how code{display:block;background:var(--page);border-radius:.5rem;padding:.5rem .75rem;margin-top:.25rem}
@media (max-width:24rem){.panel{padding:1.25rem}.page{padding-inline:1rem}}
@media (min-width:30rem){.page{padding-inline:2rem}.panel{padding:2rem}.sheet{padding:2rem}}
@media (min-width:56rem){
.page.two{grid-template-columns:minmax(0,1fr) 26rem;column-gap:4rem;row-gap:2rem;padding-top:4rem;grid-template-areas:"offer pay" "about pay" "foot foot";grid-template-rows:auto 1fr auto}
.two .offer{grid-area:offer}.two .about{grid-area:about}.two .pay{grid-area:pay}.two footer{grid-area:foot}
.receipt,.plain,.narrow{padding-top:4rem}
.sheet .facts{grid-template-columns:minmax(0,1fr) minmax(0,1.4fr);gap:1rem 2rem}
.sheet .facts .wide{grid-column:1/-1}
}
@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}.spinner{border-top-color:var(--line);border-style:dotted}}
@media (forced-colors:active){.button,.wallet,.panel{border:1px solid}}
@page{margin:16mm}
@media print{
:root{color-scheme:light;--page:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--good:#12704a;--good-soft:#fff;--bad:#b3261e;--bad-soft:#fff;--test:#000;--test-soft:#fff;--accent-text:#000}
footer,.by-yourself,.skip,.papers,.seller{display:none}
.poster{border:0;box-shadow:none}.poster .qr{width:min(100%,9cm);border:0}
body{font-size:.875rem}
.page,.receipt{padding:0;max-width:none}
.sheet{border:0;box-shadow:none;padding:0;overflow:visible}
.verdict{padding:0}.how-known{display:none}
.badge{border:1px solid}
.sheet section,.facts>div{break-inside:avoid}
.address-of-page{display:block;color:var(--soft)}
}`;
