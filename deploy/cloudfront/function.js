// A CloudFront function (runtime cloudfront-js-2.0, event viewer-request) in front of hdqs. NOT RUN on
// CloudFront: it was reviewed against Amazon's documentation in November 2026; `make edge` runs the
// function with Node.js only. Try it on a distribution of its own first, with the checks of
// docs/caching.md#trying-a-cdn.
//
// The distribution needs:
//   cache policy            all query strings; the header field Accept, of which this function leaves two values;
//                           gzip on; TTL 0 to 31536000, default 0
//   origin request policy   the header fields X-CATALOG-API-APP-IDENTIFIER, X-HDX-HAPI-APP-IDENTIFIER
//   behaviour /mcp          CachingDisabled, all methods, all header fields but Host
//   behaviour /odata/*      CachingDisabled: what is kept would depend on Accept
//   behaviour /bulk/*       without this function; Range as CloudFront does it by itself
//   custom error responses  none: CloudFront sends stale answers as Cache-Control allows
// Replicas run with --base-url. CloudFront does not know the keys that 'hdqs publish' prints: invalidate /*.
//
// The app identifier goes from the query, and so from the cache key, into a header field, and parameters
// of lists are put in a fixed order where that loses nothing: each has a plain name and occurs once.
// Names that the service does not know stay, since it says so in X-Unknown-Params, and refuses some.
function handler(event) {
    var request = event.request;
    var query = request.querystring;
    var headers = request.headers;
    // Parts of two answers of a list would look like one file.
    delete headers.range;
    delete headers['if-range'];
    // Maps (/ogc), /sources and paths that nothing is at have an answer for browsers and one for programs.
    if (!/^\/(odata\/|mcp$)/.test(request.uri)) {
        var accept = headers.accept ? headers.accept.value : '';
        var page = /text\/html/.test(accept) && !/json/.test(accept) && !/^(\/hapi|\/contract)?\/(api|bulk)/.test(request.uri);
        headers.accept = { value: page ? 'text/html' : '*/*' };
    }

    var given = query.app_identifier;
    if (given && !given.multiValue) {
        if (/^(?:[A-Za-z0-9+\/_=-]|%(?:2[BbFf]|3[Dd]|20)){8,}$/.test(given.value)) {
            headers['x-catalog-api-app-identifier'] = { value: decodeURIComponent(given.value) };
            delete query.app_identifier;
        }
    }
    // A request without an identifier may get a kept answer: it is a label, not a credential. One that
    // cannot be an identifier stays in the query, and so has a key of its own.
    var names = Object.keys(query);
    var plain = /\/api\//.test(request.uri) && names.every(function (name) {
        return /^[a-z0-9_]+$/.test(name) && !query[name].multiValue && query[name].value !== '';
    });
    if (plain) {
        var sorted = {};
        names.sort().forEach(function (name) { sorted[name] = query[name]; });
        request.querystring = sorted;
    }
    return request;
}
