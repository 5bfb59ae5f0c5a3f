// How the site's search ranks pages: those whose title or line of keywords has words of the query come
// first, pages of the guide before those of the reference, and lists such as the change log last.
var keywords = KEYWORDS; // by page; conf.py puts them here

var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const stemmer = new Stemmer();
    const stems = (text) =>
      splitQuery(text.toLowerCase())
        .filter((word) => !stopwords.has(word))
        .map((word) => stemmer.stemWord(word));
    const own = new Set(stems(`${title} ${keywords[docname] || ""}`));
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const hits = new Set(stems(query).filter((word) => own.has(word)));
    const list = ["changelog", "benchmarks", "fidelity", "drift_delays", "glossary"].includes(docname);
    return score + 6 * hits.size + (docname.includes("/") ? 0 : 4) - (list ? 20 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
