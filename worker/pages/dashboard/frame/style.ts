/** Style of the dashboard, after that of the hosted pages. */
export const BOARD_STYLE = `
.board{max-width:64rem}
.board main{display:grid;grid-template-columns:minmax(0,1fr);gap:1.25rem;align-content:start}
.board h1{font-size:1.75rem;line-height:1.2;font-weight:650}
.board h2{font-size:1.125rem;font-weight:650}
.board h3{font-size:1rem;font-weight:650}
.board main .button{width:auto;display:inline-block}
.board section{background:var(--card);border:1px solid var(--line);border-radius:1rem;padding:1.25rem;display:grid;grid-template-columns:minmax(0,1fr);gap:1rem}
.board-head{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;justify-content:space-between;align-items:center;padding-bottom:1rem;border-bottom:1px solid var(--line);margin-bottom:1.25rem}
.menu{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;justify-content:space-between;align-items:center;position:static;width:100%;padding:0;margin:0;border:0;background:none;color:inherit;overflow:visible}
.home{font-weight:650;color:var(--ink);text-decoration:none;overflow-wrap:anywhere}
.menu-button{display:none}
.modes{display:inline-flex;border:1px solid var(--line);border-radius:.625rem;overflow:hidden}
.modes>*{padding:.25rem .875rem!important}
.modes strong{background:var(--accent-soft);color:var(--accent-text)}
.board-head ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0}
.board-head a{display:inline-block;padding:.25rem 0}
.board-head [aria-current]{font-weight:650;color:var(--ink)}
.skip{position:absolute;left:-99rem}
.skip:focus{position:static}
.who,.board-head form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
.brand-preview div{display:flex;flex-wrap:wrap;gap:.75rem;align-items:center}
.brand-preview .sample{padding:.5rem 1rem;border-radius:.75rem;font-weight:600}
.make{position:relative}
.make summary{cursor:pointer;font-weight:600;min-height:1.75rem}
.make ul{flex-direction:column;padding:.25rem 0}
@media (min-width:40.01rem){.make ul{position:absolute;right:0;z-index:1;min-width:12rem;padding:.5rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.625rem}}
.board button,.board select,.board .field input,.board-head input{font:inherit;min-height:2.5rem;padding:.375rem .875rem;border-radius:.625rem;border:1px solid var(--soft);background:var(--card);color:var(--ink)}
.board select,.board .field input{width:100%}
.who select{width:auto;max-width:14rem}
.board button{cursor:pointer;font-weight:600}
.board .act>button{justify-self:start;border-color:var(--accent-edge)}
.board button.final{color:var(--bad);border-color:var(--bad)}
.unbroken{white-space:nowrap}
.act{display:grid;grid-template-columns:minmax(0,1fr);gap:.75rem;max-width:30rem}
td .act{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end;max-width:none}
td .act .field label{position:absolute;left:-99rem}
.board .frame{overflow-x:auto;display:block;padding:0;border:0;border-radius:0}
.board table{border-collapse:collapse;width:100%;font-size:.9375rem}
.board caption{text-align:left;font-weight:650;padding-bottom:.5rem}
.board th,.board td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere;min-width:6rem;max-width:22rem}
.board th[scope=row]{font-weight:500;min-width:9rem}
@media (max-width:40rem){
.menu-button{display:block}
.menu:not(:popover-open){display:none}
.menu:popover-open{position:fixed;inset:0 0 auto;width:auto;max-height:100vh;overflow:auto;padding:1.25rem;background:var(--card);border-bottom:1px solid var(--line);flex-direction:column;align-items:stretch;gap:1rem}
.menu::backdrop{background:#0008}
.menu nav ul{display:grid;grid-template-columns:1fr 1fr}
.menu nav a{padding:.5rem 0}
.board thead{position:absolute;left:-99rem}
.board tr{display:grid;padding:.625rem 0;border-top:1px solid var(--line)}
.board th[scope=row],.board td{border:0;padding:.125rem 0;max-width:none}
.board td{display:flow-root;padding-left:7.5rem}
.board td:empty{display:none}
.board td::before{content:attr(data-name);float:left;width:7rem;margin-left:-7.5rem;color:var(--soft)}
}
.board dl{display:grid;gap:.125rem 1.5rem}
.board dt{font-weight:650}
.board dd{margin:0 0 .5rem;overflow-wrap:anywhere}
@media (min-width:40.01rem){.board dl{grid-template-columns:12rem minmax(0,1fr)}.board dd{margin:0}.board dt,.board dd{padding:.25rem 0}}
.done{background:var(--good-soft);border-radius:.75rem;padding:.625rem .875rem}
.result:not(:target){display:none}
.wrong{color:var(--bad)}
[aria-invalid]{border-color:var(--bad)!important}
.once{border:2px solid var(--accent-edge)!important}
.codes{font:1rem/1.8 ui-monospace,Menlo,Consolas,monospace;columns:2;list-style:none;padding:0}
.board pre{overflow-x:auto;max-height:24rem;font:.8125rem/1.5 ui-monospace,Menlo,Consolas,monospace;background:var(--page);padding:.75rem;border-radius:.625rem}
.board textarea{font:inherit;width:100%;padding:.375rem .875rem;border-radius:.625rem;border:1px solid var(--soft);background:var(--card);color:var(--ink)}
.said{white-space:pre-wrap;overflow-wrap:anywhere}
.ends{display:flex;justify-content:space-between;color:var(--soft);font-size:.875rem}
.chart{width:100%;height:8rem;fill:var(--accent-edge)}
.board main>.badge{justify-self:start}
.board section ol,.board section ul:not(.codes){padding-left:1.25rem}
@media print{.board-head,.board form,.skip{display:none}}
[data-mode=sandbox] .board-head{border-bottom:3px dashed var(--test)}
`;
